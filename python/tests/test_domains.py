"""Variables of any number of states, and QUBOs."""

import itertools
import pickle

import numpy as np
import pytest
import zbound as zb


def random_model(rng):
    sizes = [int(q) for q in rng.integers(1, 5, size=4)]
    scopes = [(0, 1), (2, 1), (3, 0, 2), (3,)]
    factors = []
    for scope in scopes:
        table = rng.normal(size=[sizes[i] for i in scope])
        table[rng.random(table.shape) < 0.15] = -np.inf
        factors.append((scope, table))
    return sizes, factors


def brute_force(sizes, factors):
    states = list(itertools.product(*(range(q) for q in sizes)))
    values = np.array([sum(t[tuple(x[i] for i in s)] for s, t in factors) for x in states])
    return states, values


@pytest.mark.parametrize("seed", range(20))
def test_tables_of_any_cardinality_agree_with_enumeration(seed):
    rng = np.random.default_rng(seed)
    sizes, factors = random_model(rng)
    states, values = brute_force(sizes, factors)
    model = zb.FactorModel(sizes, factors)
    if np.isneginf(values).all():
        assert zb.bound(model).log_z.upper is None
        return
    truth = np.logaddexp.reduce(values)
    answer = zb.exact(model)
    assert np.isclose(answer.log_z.estimate, truth)
    assert answer.log_z.lower <= truth + 1e-12 and truth - 1e-12 <= answer.log_z.upper
    law = np.exp(values - truth)
    for i, q in enumerate(sizes):
        expected = [sum(p for p, x in zip(law, states) if x[i] == s) for s in range(q)]
        assert np.allclose(answer.state_marginals[i], expected)
    assert np.isclose(answer.max_f, values.max())
    wmb = zb.bound(model, "wmb", ibound=1)
    assert wmb.log_z.upper >= truth - 1e-9
    assert wmb.log_z.lower is None or wmb.log_z.lower <= truth + 1e-9
    assert pickle.loads(pickle.dumps(model)) == model


def test_bad_tables_are_refused_by_name():
    with pytest.raises(zb.ModelError, match="shape"):
        zb.FactorModel([3, 2], [((0, 1), np.zeros((2, 3)))])
    with pytest.raises(zb.ModelError, match="out of range"):
        zb.FactorModel([3, 2], [((0, 2), np.zeros((3, 2)))])
    with pytest.raises(zb.ModelError, match="NaN"):
        zb.FactorModel([2], [((0,), [0.0, np.nan])])


def test_a_qubo_is_its_energy():
    rng = np.random.default_rng(5)
    Q = rng.normal(size=(5, 5))
    model = zb.Qubo(Q, offset=0.25, beta=2.0)
    states = np.array(list(itertools.product([0, 1], repeat=5)))
    energies = np.einsum("si,ij,sj->s", states, Q, states) + 0.25
    assert np.isclose(zb.exact(model).log_z.estimate, np.logaddexp.reduce(-2.0 * energies))
    assert np.isclose(zb.map(model).energy, energies.min())
    named = zb.Qubo({("a", "a"): 1.0, ("a", "b"): -3.0})
    assert named.names == ("a", "b")


def test_results_of_many_methods_answer_like_one():
    model = zb.Ising(np.array([0.1, 0.0, -0.2]), np.array([[0, 0.5, 0], [0, 0, -1.0], [0, 0, 0]]))
    results = zb.bound(model)
    assert results.upper_method == results.lower_method == "exact"
    assert results.marginals.shape == (3,) and results.best.estimate_method == "exact"
    sampled = zb.bound(model, "ais", max_iterations=64)
    assert sampled.status == "estimate" and sampled.log_z.upper is None
    assert abs(sampled.log_z.estimate - results.best.estimate) < 0.2
