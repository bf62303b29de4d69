"""Another program on one model: lines of JSON, each better than the one before; the first says who it is.

usage: others.py PROGRAM [MODEL EVIDENCE SECONDS]

MODEL is a UAI file, or `-` for a pairwise model of spins as JSON on standard input. It follows relaxations.py.
"""
import json
import math
import sys
import time

START = time.time()


def say(**fields):
    print(json.dumps(fields | {"seconds": time.time() - START}), flush=True)


def evidence_of(path):
    if not path:
        return {}
    numbers = [int(token) for token in open(path).read().split()]
    # The dialect of 2010 begins with the number of samples, one.
    if len(numbers) > 1 and numbers[0] == 1 and len(numbers) == 2 + 2 * numbers[1]:
        numbers = numbers[1:]
    pairs = numbers[1:] if numbers else []
    return dict(zip(pairs[0::2], pairs[1::2]))


def finite(value):
    return value if math.isfinite(value) else None


def pygms(model_path, evidence, seconds):
    import pygms
    from pygms import wmb

    factors = [factor.condition(evidence) for factor in pygms.readUai(model_path)]
    constant = sum(math.log(float(f.table.flat[0])) for f in factors if len(f.vars) == 0 and f.table.flat[0] > 0)
    model = pygms.GraphModel([factor for factor in factors if len(factor.vars) > 0])
    order, _ = pygms.eliminationOrder(model, "wtminfill")
    tree = wmb.JTree(model, elimOrder=order, weights=1.0) if width(model, order) <= 22 else None
    if tree is not None:
        return say(value=constant + float(tree.msgForward()))
    upper, lower = (wmb.WMB(model, elimOrder=order, iBound=10, weights=w) for w in ("sum+", "sum-"))
    best = [math.inf, -math.inf]
    # One pass at least: who started it stops it when it takes too long.
    while best[0] == math.inf or time.time() - START < seconds:
        best[0] = min(best[0], constant + float(upper.msgForward(1.0, 0.1)))
        upper.msgBackward(1.0, 0.1)
        best[1] = max(best[1], constant + float(lower.msgForward(1.0, 0.1)))
        lower.msgBackward(1.0, 0.1)
        say(upper=finite(best[0]), lower=finite(best[1]))


def width(model, order):
    """Variables of the largest clique along an order, less one."""
    neighbours = {int(x): set() for x in model.X}
    for factor in model.factors:
        scope = [int(x) for x in factor.vars]
        for x in scope:
            neighbours[x].update(y for y in scope if y != x)
    largest = 0
    for x in (int(x) for x in order):
        around = neighbours.pop(x, set())
        largest = max(largest, len(around))
        for y in around:
            neighbours[y] |= around
            neighbours[y] -= {x, y}
    return largest


def pyagrum(model_path, evidence, seconds):
    import pyagrum

    if open(model_path).read().split(None, 1)[0].upper() != "BAYES":
        return say(failed="it computes the probability of evidence in Bayesian networks only")
    network = pyagrum.loadBN(model_path)
    names = {i: network.variable(i).name() for i in network.nodes()}
    inference = pyagrum.LazyPropagation(network)
    inference.setEvidence({names[i]: state for i, state in evidence.items()})
    inference.makeInference()
    probability = inference.evidenceProbability() if evidence else 1.0
    say(value=math.log(probability) if probability > 0 else None)


def bound_by_qics(model):
    import qics

    info = qics.Solver(quantum(model), verbose=0, tol_gap=1e-6, tol_feas=1e-6).solve()
    if info["sol_status"] != "optimal":
        return say(failed=f"the solver says {info['sol_status']}")
    say(upper=model.get("constant", 0.0) - float(info["p_obj"]) + model["d"] * math.log(2))


def bound_by_cvxpy(model):
    problem = logdet(model)
    value = problem.solve()
    if problem.status != "optimal":
        return say(failed=f"the solver says {problem.status}")
    say(upper=float(value) + model["d"] * math.log(2))


def main():
    program = sys.argv[1]
    try:
        module = __import__(program)
    except ImportError as error:
        return say(missing=str(error))
    if len(sys.argv) < 3:
        return say(version=getattr(module, "__version__", "?"))
    model_path, evidence_path, seconds = sys.argv[2], sys.argv[3], float(sys.argv[4])
    try:
        if model_path == "-":
            {"qics": bound_by_qics, "cvxpy": bound_by_cvxpy}[program](json.load(sys.stdin))
        else:
            {"pygms": pygms, "pyagrum": pyagrum}[program](model_path, evidence_of(evidence_path), seconds)
    except Exception as error:
        say(failed=f"{type(error).__name__}: {error}"[:200])


main()
