"""Scans over temperature, names of variables, tables of results, polynomials from dimod."""

import numpy as np
import pytest
import zbound as zb
from conftest import brute_force, need, random_ising


def test_a_scan_brackets_log_z_at_every_temperature(rng):
    fields, couplings = random_ising(rng, 5)
    model = zb.Ising(fields, couplings)
    betas = np.linspace(0, 2, 6)
    for method in ["auto", ["quantum", "mean-field"], "trw"]:
        scan = zb.temperature_scan(model, betas, method)
        truth = np.array([brute_force(lambda x, b=beta: b * model.value(x), 5) for beta in betas])
        assert np.all((scan.upper >= truth - 1e-9) | np.isnan(scan.upper))
        assert np.all((scan.lower <= truth + 1e-9) | np.isnan(scan.lower))
    exact = zb.temperature_scan(model, betas)
    assert np.all(exact.upper - exact.lower < 1e-8) and len(exact) == 6
    assert exact.upper_methods[-1] == "exact" and "widest bracket" in repr(exact)
    with pytest.raises(zb.SettingError, match="inverse temperature"):
        zb.temperature_scan(model, [-1.0])


def test_scans_and_results_become_tables_and_pictures():
    need("pandas"), need("matplotlib")
    model = zb.generate("gaussian", "complete", d=6, seed=1)
    scan = zb.temperature_scan(model, [0.5, 1.0], ["quantum", "mean-field"])
    assert list(scan.to_pandas()["beta"]) == [0.5, 1.0]
    assert scan.plot().get_xlabel() == "inverse temperature beta"
    results = zb.bound(model, ["mean-field", "quantum"])
    assert list(results.to_pandas()["method"]) == ["mean-field", "quantum"]
    assert len(results["quantum"].to_pandas()) == 1
    history = results.history
    assert len(history.seconds) >= 2 and np.all(np.diff(history.seconds) >= 0)
    assert history.upper[-1] == results.log_z.upper and np.all(np.diff(history.upper[~np.isnan(history.upper)]) <= 0)
    assert results.plot_history().get_xlabel() == "seconds"


def test_scans_and_results_become_datasets():
    need("xarray")
    model = zb.generate("gaussian", "complete", d=6, seed=1)
    scan = zb.temperature_scan(model, [0.5, 1.0]).to_xarray()
    assert scan["upper"].dims == ("beta",) and float(scan["upper"].sel(beta=1.0)) > 0
    results = zb.bound(model, ["mean-field", "quantum"]).to_xarray()
    assert bool(np.isnan(results["log_z_upper"].sel({"method": "mean-field"})))
    assert float(results["log_z_upper"].sel({"method": "quantum"})) > 0


def test_variables_may_be_named():
    model = zb.Ising([0.1, 0.2, 0.3], np.diag([0.5, 0.5], 1), names=["a", "b", "c"])
    assert model.with_evidence({"b": 1}).evidence == model.with_evidence({1: 1}).evidence == {1: 1}
    with pytest.raises(zb.ModelError, match="neither a name nor a number"):
        model.with_evidence({"z": 1})
    both = [zb.marginal_intervals(model, [v]) for v in ("c", 2)]
    assert np.array_equal(*both)
    named = zb.bound(model, "quantum", features=[[], ["a"], ["b"], ["c"]])
    assert named.features == zb.bound(model, "quantum", features=[[], [0], [1], [2]]).features
    with pytest.raises(zb.SettingError, match="no variable 'z'"):
        zb.marginal_intervals(model, ["z"])


def test_labels_that_are_numbers_are_labels_first():
    networkx = need("networkx")
    graph = networkx.Graph()
    graph.add_edge(2, 0, weight=0.5)
    graph.add_edge(0, 1, weight=0.5)
    model = zb.from_networkx(graph)
    assert model.names == (2, 0, 1) and model.with_evidence({2: -1}).evidence == {0: -1}


def test_polynomials_of_dimod_keep_their_distribution(rng):
    dimod = need("dimod")
    terms = {"abc": 0.7, "ab": -0.4, "c": 0.2, "abcd": -0.3, "": 0.6}
    for vartype, values in [("SPIN", (-1, 1)), ("BINARY", (0, 1))]:
        poly = dimod.BinaryPolynomial(terms, vartype)
        model = zb.from_dimod(poly, beta=1.5)
        assert model.names == ("a", "b", "c", "d")

        def energy(x, poly=poly, values=values):
            return float(poly.energy({name: values[int(s > 0)] for name, s in zip("abcd", x)}))

        truth = brute_force(lambda x, energy=energy: -1.5 * energy(x), 4)
        assert abs(zb.exact(model).log_z.estimate - truth) < 1e-9


def test_a_machine_with_one_small_layer_is_summed_out_at_once(rng):
    rbm = zb.Rbm(rng.normal(size=(14, 300)) * 0.2, rng.normal(size=300) * 0.1, rng.normal(size=14) * 0.1)
    results = zb.bound(rbm.model, time_limit=60)
    assert results.log_z.upper - results.log_z.lower < 1e-6
    bits = (np.arange(1 << 14)[:, None] >> np.arange(14)) & 1
    logs = bits @ rbm.hidden_bias + np.logaddexp(0.0, bits @ rbm.weights + rbm.visible_bias).sum(axis=1)
    assert abs(results.log_z.upper - np.logaddexp.reduce(logs)) < 1e-8
