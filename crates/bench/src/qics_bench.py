"""Solves quantum relaxations with QICS, for `zbound bench quantum --python PATH`.

Reads one problem per line on standard input, as JSON:
    {"n": n, "eps": eps, "tol": tol, "classes": [n*n class numbers] or null, "f": [n*n entries]}
and answers with one line each: {"seconds": s, "iterations": k, "value": v, "status": "..."}.
The model is  max <F, S> - (eps/n) tr S log S  over S PSD, all entries of one class equal, diagonal one;
`classes` null stands for the features (1, x), where only the diagonal is fixed.
The first line answered is {"qics": version}, or {"missing": reason} when QICS cannot be imported.
The first solve is a small one that is not timed: it compiles the solver's kernels.
"""

import json
import sys
import time


def main():
    try:
        import numpy as np
        import qics
        import scipy.sparse as sp
    except ImportError as error:
        print(json.dumps({"missing": str(error)}), flush=True)
        return
    solve(np, sp, qics, {"n": 3, "eps": 1.0, "tol": 1e-6, "classes": None, "f": [0.0] * 9})
    print(json.dumps({"qics": qics.__version__}), flush=True)
    for line in sys.stdin:
        print(json.dumps(solve(np, sp, qics, json.loads(line))), flush=True)


def constraints(np, sp, n, classes):
    """Rows over (t, u, S): u = 1, S_ii = 1, and neighbours within a class equal."""
    entries, values, rhs = [(0, 1)], [1.0], [1.0]
    for i in range(n):
        entries.append((len(rhs), 2 + i * n + i))
        values.append(1.0)
        rhs.append(1.0)
    seen = {}
    for i in range(n):
        for j in range(i if classes is not None else 0):
            name = classes[i * n + j]
            # One equation per upper entry, on the symmetric pair as QICS stores it.
            if name in seen:
                a, b = seen[name]
                for p, q, sign in ((i, j, 1.0), (a, b, -1.0)):
                    entries += [(len(rhs), 2 + p * n + q), (len(rhs), 2 + q * n + p)]
                    values += [0.5 * sign, 0.5 * sign]
                rhs.append(0.0)
            seen[name] = (i, j)
    rows, columns = zip(*entries)
    shape = (len(rhs), 2 + n * n)
    return sp.csr_matrix((values, (rows, columns)), shape=shape), np.array(rhs).reshape(-1, 1)


def solve(np, sp, qics, problem):
    n, eps = problem["n"], problem["eps"]
    f = np.array(problem["f"], dtype=float).reshape(-1, 1)
    a, b = constraints(np, sp, n, problem["classes"])
    c = np.concatenate([[[eps / n]], [[0.0]], -f])
    model = qics.Model(c=c, A=a, b=b, cones=[qics.cones.QuantEntr(n)])
    solver = qics.Solver(model, verbose=0, tol_gap=problem["tol"], tol_feas=problem["tol"])
    start = time.perf_counter()
    info = solver.solve()
    seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "iterations": int(info["num_iter"]),
        "value": -float(info["p_obj"]),
        "status": str(info["sol_status"]),
    }


if __name__ == "__main__":
    main()
