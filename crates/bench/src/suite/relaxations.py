"""Relaxations of pairwise models of spins in the terms of general solvers, as yardsticks.

A model is {"d": d, "constant": c, "fields": [...], "couplings": [[i, j, v], ...]}; every value is an upper bound on log Z up to the
solver's tolerance, and comes without a proof.
"""


def parameters(model):
    """The constant, the fields and the symmetric matrix of halved couplings."""
    import numpy as np

    d = model["d"]
    fields = np.zeros(d)
    fields[:] = model.get("fields", fields)
    couplings = np.zeros((d, d))
    for i, j, v in model.get("couplings", []):
        couplings[i, j] = couplings[j, i] = v / 2
    return model.get("constant", 0.0), fields, couplings


def logdet(model):
    """The log-determinant relaxation with the constraints of all pairs as a problem of CVXPY, whose value bounds phi = log mean exp f:

    max <theta, mu> + 1/2 log det(Sigma + diag(0, I)/3) + d/2 log(pi e/2) - d log 2
    over   Sigma = [[1, m'], [m, C]] >= 0,  C_ii = 1,  1 + a m_i + b m_j + a b C_ij >= 0 for a, b = -1, +1.
    """
    import cvxpy as cp
    import numpy as np

    constant, fields, couplings = parameters(model)
    d = model["d"]
    sigma = cp.Variable((d + 1, d + 1), symmetric=True)
    means, second = sigma[0, 1:], sigma[1:, 1:]
    rows, columns = np.triu_indices(d, 1)
    first, other, both = means[rows], means[columns], second[rows, columns]
    pairs = [1 + a * first + b * other + a * b * both >= 0 for a in (-1, 1) for b in (-1, 1)]
    inflated = sigma + np.diag([0.0] + [1 / 3] * d)
    value = fields @ means + cp.sum(cp.multiply(couplings, second)) + 0.5 * cp.log_det(inflated)
    value += d / 2 * np.log(np.pi * np.e / 2) - d * np.log(2)
    return cp.Problem(cp.Maximize(value + constant), [sigma >> 0, cp.diag(sigma) == 1, *pairs])


def quantum(model):
    """The quantum relaxation with features (1, x) as a model of QICS, whose optimal value is the constant less a bound on phi:

    max <F, S> - 1/n tr S log S   over S >= 0 with a diagonal of ones, n = d + 1.
    """
    import numpy as np
    import qics
    import scipy.sparse as sp

    _, fields, couplings = parameters(model)
    n = model["d"] + 1
    f = np.zeros((n, n))
    f[0, 1:] = f[1:, 0] = fields / 2
    f[1:, 1:] = couplings
    # Variables are (t, u, S); u = 1.
    columns = [1] + [2 + i * n + i for i in range(n)]
    a = sp.csr_matrix((np.ones(n + 1), (range(n + 1), columns)), shape=(n + 1, 2 + n * n))
    c = np.concatenate([[[1 / n]], [[0.0]], -f.reshape(-1, 1)])
    return qics.Model(c=c, A=a, b=np.ones((n + 1, 1)), cones=[qics.cones.QuantEntr(n)])
