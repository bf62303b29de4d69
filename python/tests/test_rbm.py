"""Restricted Boltzmann machines against enumeration."""

from itertools import product

import numpy as np
import pytest
import zbound as zb


def brute_force(weights, b, c):
    """log Z by summing over all states of the visible units."""
    states = np.array(list(product([0.0, 1.0], repeat=weights.shape[1])))
    logs = states @ b + np.logaddexp(0.0, states @ weights.T + c).sum(axis=1)
    return np.logaddexp.reduce(logs)


def test_bounds_hold_log_z_and_the_likelihood():
    random = np.random.default_rng(5)
    for hidden, visible in [(1, 1), (2, 4), (5, 3), (4, 6)]:
        weights = random.normal(size=(hidden, visible))
        b, c = random.normal(size=visible), random.normal(size=hidden)
        rbm = zb.Rbm(weights, b, c)
        log_z = brute_force(weights, b, c)
        sides = zb.bound(rbm.model, "mean-field").log_z
        assert sides.lower <= log_z + 1e-9
        exact = zb.exact(rbm.model)
        assert abs(exact.log_z.estimate - log_z) < 1e-9
        data = random.integers(0, 2, size=(7, visible))
        mean = rbm.log_weights(data).mean() - log_z
        likelihood = rbm.log_likelihood_bounds(data)
        assert likelihood.lower <= mean <= likelihood.upper
        assert likelihood.upper - likelihood.lower < 1e-6


def test_either_orientation_of_the_weights_is_taken_by_the_biases():
    weights = np.arange(6.0).reshape(2, 3)
    one = zb.Rbm(weights, np.zeros(3), np.zeros(2))
    other = zb.Rbm(weights.T, np.zeros(3), np.zeros(2))
    assert np.array_equal(one.weights, other.weights)
    assert "3 visible and 2 hidden" in repr(other)


def test_bad_machines_and_data_are_named():
    with pytest.raises(zb.ModelError, match="matrix"):
        zb.Rbm([1.0, 2.0])
    with pytest.raises(zb.ModelError, match="fits no"):
        zb.Rbm(np.ones((2, 3)), np.zeros(4), np.zeros(2))
    with pytest.raises(zb.ModelError, match="finite"):
        zb.Rbm([[np.nan]])
    with pytest.raises(zb.ModelError, match="0 and 1"):
        zb.Rbm([[1.0]]).log_likelihood_bounds([[0.5]])
    with pytest.raises(zb.ModelError, match="rows of 1"):
        zb.Rbm([[1.0]]).log_likelihood_bounds([[0, 1]])


def test_a_machine_is_taken_wherever_a_model_is():
    rbm = zb.Rbm(np.array([[1.0, -2.0, 0.5], [0.3, 0.2, -0.1]]))
    truth = zb.exact(rbm.model).log_z.estimate
    assert abs(zb.exact(rbm).log_z.estimate - truth) < 1e-12
    assert zb.bound(rbm, "quantum").log_z.upper >= truth
    assert zb.bound(rbm).log_z.lower <= truth + 1e-9
    assert zb.map(rbm).value <= truth
    assert zb.sample(rbm, 3).states.shape == (3, 5)
    assert len(zb.marginal_intervals(rbm)) == 5
    assert zb.branch(rbm).log_z.upper >= truth
    assert zb.temperature_scan(rbm, [1.0]).upper[0] >= truth
    with pytest.raises(TypeError):
        zb.bound(3)
