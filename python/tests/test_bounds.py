"""Bounds: valid, documented, certified."""

import json
import pickle

import numpy as np
import pytest
from conftest import FULL, ROOT, brute_force, random_ising

import zbound as zb

METHODS = ["quantum", "logdet", "trw", "exact"]


@pytest.mark.parametrize("eps", [0.3, 1.0, 4.0])
def test_every_upper_bound_is_above_brute_force(rng, eps):
    for _ in range(200 if FULL else 10):
        d = int(rng.integers(1, 7))
        h, J = random_ising(rng, d)
        truth = brute_force(lambda x: h @ x + x @ J @ x / 2, d, eps)
        results = zb.bound(zb.Ising(h, J), METHODS, eps=eps)
        for solution in results:
            assert solution.certified and solution.log_z.upper >= truth - 1e-12 * max(1, abs(truth)), solution
            assert np.isclose(solution.log_z.upper, solution.phi.upper + eps * d * np.log(2))
        assert results.log_z.upper == min(s.log_z.upper for s in results)
        assert np.isclose(results["exact"].log_z.estimate, truth)


def test_one_method_gives_a_solution_and_several_give_results(rng):
    model = zb.Ising(*random_ising(rng, 5))
    one = zb.bound(model, method="quantum", eps=1.0)
    assert isinstance(one, zb.Solution) and one.method == "quantum" and one.status == "converged"
    assert one.marginals.shape == (5,) and one.marginals.dtype == np.float64
    assert one.features == [(), (0,), (1,), (2,), (3,), (4,)] and one.steps is None and one.pairwise is None
    assert one.iterations > 0 and one.trace.upper.shape == one.trace.lower.shape and len(one.trace.upper) > 0
    assert 0 <= one.relaxation_gap <= 1e-8 * max(1, abs(one.phi.upper)) and one.solver is not None
    for several in [zb.bound(model), zb.bound(model, "all"), zb.bound(model, ["quantum", "trw"])]:
        assert isinstance(several, zb.Results) and several.best.upper_method in several.methods
        assert several[several.best.upper_method].log_z.upper == several.log_z.upper
        assert list(several)[0] is several[0] and len(several[:]) == len(several)


def test_pair_moments_come_on_request(rng):
    model = zb.Ising(*random_ising(rng, 5))
    pairs = zb.bound(model, "quantum", pair_moments=True).pairwise
    assert np.array_equal(pairs.edges, model.edges) and np.all(np.abs(pairs.values) <= 1)


def test_exact_gives_moments_entropy_and_a_maximiser(rng):
    h, J = random_ising(rng, 6)
    model = zb.Ising(h, J)
    answer = zb.exact(model, eps=0.5)
    assert answer.log_z.lower <= answer.log_z.estimate <= answer.log_z.upper
    assert np.isclose(model.value(answer.argmax), answer.max_f) and answer.algorithm == "enumeration"
    energy = h @ (2 * answer.marginals - 1) + sum(J[i, j] * v for (i, j), v in zip(*answer.pairwise))
    assert np.isclose(energy + 0.5 * answer.entropy, answer.log_z.estimate)


def test_features_are_names_or_sets(rng):
    model = zb.Ising(*random_ising(rng, 4))
    spec = zb.bound(model, "quantum", features="degree:2").log_z.upper
    sets = [()] + [(i,) for i in range(4)] + [(i, j) for i in range(4) for j in range(i + 1, 4)]
    assert zb.bound(model, "quantum", features=sets).log_z.upper == spec
    assert zb.bound(model, "quantum", features=np.array([[0], [1], [2], [3]]).tolist() + [[]]).certified
    assert spec <= zb.bound(model, "quantum").log_z.upper + 1e-7
    with pytest.raises(zb.FeaturesError):
        zb.bound(model, "quantum", features=[[0, 0]])


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"tol": 0.0}, "tol"),
        ({"eps": -1.0}, "eps"),
        ({"eps": float("nan")}, "eps"),
        ({"time_limit": -1.0}, "time limit"),
        ({"threads": 0}, "threads"),
        ({"solver": "magic"}, "solver"),
        ({"rho": "magic"}, "rho"),
        ({"pairwise": "magic"}, "pairwise"),
        ({"greedy": "magic"}, "greedy"),
        ({"method": "magic"}, "magic"),
        ({"method": ["quantum", "quantum"]}, "twice"),
        ({"method": ["quantum", "all"]}, "alone"),
        ({"method": []}, "method"),
        ({"max_iterations": 0}, "iterations"),
    ],
)
def test_bad_settings_are_named(options, name):
    with pytest.raises(zb.SettingError, match=name):
        zb.bound(zb.Ising([0.0, 0.0]), **{"method": "quantum", **options})


def test_wrong_types_are_type_errors():
    with pytest.raises(TypeError):
        zb.bound("model.json", "quantum")
    with pytest.raises(TypeError):
        zb.bound(zb.Ising([0.0]), "quantum", colour="red")
    with pytest.raises((TypeError, ValueError)):
        zb.Ising("abc")


def test_the_document_is_that_of_the_command_line(rng):
    results = zb.bound(zb.read(ROOT / "examples" / "cubic.json"), "all", pair_moments=True)
    document = json.loads(results.to_json())
    assert document["schema"] == "zbound.bound/1" and document["model"]["d"] == 4
    assert document["best"]["log_z"]["upper"] == results.log_z.upper
    keys = "method phi log_z relaxation_gap status certified solver iterations eigendecompositions seconds features"
    for entry in document["results"]:
        assert set(entry) == set(f"{keys} steps marginals state_marginals pairwise reason".split())
    assert any(entry["status"] == "not-applicable" and entry["reason"] for entry in document["results"])


def test_records_become_a_table(rng):
    results = zb.bound(zb.Ising(*random_ising(rng, 4)), ["quantum", "trw"])
    frame = results.to_dataframe()
    assert list(frame["method"]) == ["quantum", "trw"] and frame["log_z_upper"][0] == results[0].log_z.upper
    assert len(results[0].to_dataframe()) == 1


def test_results_read_well_and_stay_true_when_rounded(rng):
    for _ in range(50):
        results = zb.bound(zb.Ising(*random_ising(rng, 4, 10.0 ** rng.integers(-3, 5))), ["exact", "quantum"])
        text = repr(results["exact"])
        lower, upper = map(float, text[text.index("[") + 1 : text.index("]")].split(","))
        assert lower <= results["exact"].log_z.lower and upper >= results["exact"].log_z.upper
        assert upper - lower <= 1e-5 * max(1e-9, abs(upper))
    assert "status='converged'" in repr(results[1]) and repr(results).count("Solution(") == 2
    assert "<table>" in results._repr_html_() and "quantum" in results[1]._repr_html_()
    with pytest.raises(AttributeError):
        results[0].status = "other"


def test_certificates_prove_their_bounds(tmp_path, rng):
    model, other = (zb.Ising(*random_ising(rng, 5)) for _ in range(2))
    for method in ["quantum", "logdet", "trw"]:
        solution = zb.bound(model, method)
        path = tmp_path / f"{method}.zbc"
        solution.certificate.save(path)
        proved = zb.verify(model, path)
        assert proved.log_z.upper <= solution.log_z.upper and proved.eps == 1.0
        assert solution.certificate.verify(model) == proved
        assert zb.Certificate.from_bytes(path.read_bytes()).to_bytes() == path.read_bytes()
        assert pickle.loads(pickle.dumps(solution)).certificate.verify(model) == proved
        with pytest.raises(zb.CertificateError):
            zb.verify(zb.Ising(10 + other.fields), path)
    with pytest.raises(zb.CertificateError):
        zb.verify(zb.Ising([0.0]), path)
    with pytest.raises(zb.CertificateError, match="malformed"):
        zb.Certificate.from_bytes(b"nonsense")
    assert zb.bound(model, "exact").certificate is None
    assert zb.bound(model, "exact", want_certificate=True).certificate.verify(model).phi.lower is not None
    assert zb.bound(model, ["trw", "quantum"]).certificate is not None


def test_certificates_follow_evidence_and_hard_zeros():
    model = zb.read(ROOT / "examples" / "sprinkler.uai")
    for case in [model, model.with_evidence({0: 1})]:
        solution = zb.bound(case, "quantum")
        truth = zb.exact(case).log_z.estimate
        assert solution.certificate.verify(case).log_z.upper >= truth - 1e-12


def test_exact_refuses_what_does_not_fit():
    model = zb.generate("gaussian", "complete", d=60, seed=1)
    with pytest.raises((zb.MemoryLimitError, zb.NotApplicableError)):
        zb.exact(model, memory_limit=1 << 20)


def test_intervals_hold_the_marginals(rng):
    for _ in range(40 if FULL else 4):
        d = int(rng.integers(1, 7))
        model = zb.Ising(*random_ising(rng, d, 0.5))
        low, high = zb.marginal_intervals(model, eps=0.7).T
        truth = zb.exact(model, eps=0.7).marginals
        assert np.all(low <= truth + 1e-12) and np.all(truth <= high + 1e-12)
        assert np.all((0 <= low) & (high <= 1))


def test_intervals_know_evidence_limits_and_mistakes(rng):
    tree = zb.Ising([0.5, 0.0, -0.2, 0.1], np.diag([0.4, -0.3, 0.9], 1))
    fixed = tree.with_evidence({1: -1})
    intervals = zb.marginal_intervals(fixed, [3, 1])
    assert intervals.shape == (2, 2) and intervals[1].tolist() == [0.0, 0.0]
    truth = zb.exact(fixed).marginals[3]
    assert intervals[0, 0] <= truth <= intervals[0, 1] <= intervals[0, 0] + 1e-6
    seen = []
    zb.marginal_intervals(tree, progress=lambda p: seen.append(p.iteration))
    assert seen[0] == 0
    large = zb.generate("logdet-mixed", "complete", d=60, w=0.2, seed=1)
    stopped = zb.marginal_intervals(large, progress=lambda p: False)
    low, high = stopped[-1]
    assert stopped.status == "cancelled" and 0.0 <= low < high <= 1.0
    assert zb.marginal_intervals(tree, time_limit=0.0)[-1].tolist() == [0.0, 1.0]
    with pytest.raises(zb.SettingError, match="range"):
        zb.marginal_intervals(tree, [4])
    with pytest.raises(zb.SettingError):
        zb.marginal_intervals(tree, eps=-1.0)
    with pytest.raises(zb.SettingError, match="different"):
        zb.marginal_intervals(tree, pairs=[(1, 1)])


def test_laws_of_pairs_and_of_any_number_of_states_hold_the_truth(rng):
    tables = [((0, 1), rng.normal(size=(3, 2))), ((1, 2), rng.normal(size=(2, 4))), ((0, 2), rng.normal(size=(3, 4)))]
    tables[2][1][1, 3] = -np.inf
    model = zb.FactorModel([3, 2, 4], tables)
    weight = np.exp(tables[0][1][:, :, None] + tables[1][1][None] + tables[2][1][:, None])
    weight /= weight.sum()
    found = zb.marginal_intervals(model, [0, 1, 2], pairs=[(2, 0)])
    assert found.status == "converged" and np.isnan(found[0]).all() and found.shape == (3, 2)
    for axes, law in zip([(1, 2), (0, 2), (0, 1)], found.states):
        truth = weight.sum(axis=axes)
        assert np.all(law[:, 0] <= truth + 1e-12) and np.all(truth <= law[:, 1] + 1e-12)
        assert np.all(law[:, 1] - law[:, 0] < 1e-9)
    truth = weight.sum(axis=1).T
    assert np.all(found.pairs[2, 0][..., 0] <= truth + 1e-12) and np.all(truth <= found.pairs[2, 0][..., 1] + 1e-12)
    given = zb.marginal_intervals(model, [1], evidence={0: 2})
    truth = weight[2].sum(axis=1) / weight[2].sum()
    assert given[0, 0] <= truth[1] + 1e-12 and truth[1] <= given[0, 1] + 1e-12


def test_samples_follow_the_law_and_say_where_they_come_from(rng):
    model = zb.Ising(*random_ising(rng, 5))
    found = zb.sample(model, 4000, seed=3)
    assert found.kind == "exact" and found.states.shape == (4000, 5) and set(np.unique(found.states)) <= {-1, 1}
    truth = zb.exact(model).marginals
    assert np.all(np.abs((found.states == 1).mean(axis=0) - truth) < 0.05)
    assert np.array_equal(found.states, zb.sample(model, 4000, seed=3).states)
    bits = zb.sample(zb.Qubo([[1.0, -3.0], [0.0, 1.0]]), 50)
    assert set(np.unique(bits.states)) <= {0, 1} and "Samples(n=50" in repr(bits)


@pytest.mark.parametrize("cuts", ["none", "pairwise", "triangle"])
def test_map_brackets_the_maximum(rng, cuts, tmp_path):
    for _ in range(5):
        model = zb.Ising(*random_ising(rng, 6))
        truth = zb.exact(model).max_f
        best = zb.map(model, cuts=cuts)
        assert best.certified and best.value - 1e-12 <= truth <= best.upper + 1e-12
        assert np.isclose(model.value(best.assignment), best.value) and best.assignment.dtype == np.int8
        exact = zb.map(model)
        assert exact.proof == "elimination" and exact.relative_gap < 1e-9 and np.isclose(exact.value, truth)
        best.certificate.save(tmp_path / "map.zbc")
        assert zb.verify(model, tmp_path / "map.zbc").phi.upper <= best.upper
    assert "Map(value=" in repr(best) and "<table>" in best._repr_html_()
    with pytest.raises(zb.SettingError, match="cuts"):
        zb.map(model, cuts="magic")


def test_map_speaks_the_units_of_the_file():
    cut = zb.map(zb.read_bytes(b"3 3\n1 2 1\n2 3 1\n1 3 1\n", "rudy"), cuts="triangle")
    assert cut.value == 2.0 and cut.upper >= 2.0 and cut.energy is None
    energy = zb.map(zb.read_bytes(b"# vartype=SPIN\n0 1 1.0\n", "coo", beta=2.0))
    assert energy.energy == -1.0 and energy.energy_lower <= -1.0
    zeros = zb.read(ROOT / "examples" / "sprinkler.uai")
    best = zb.map(zeros, cuts="none")
    assert best.upper >= zb.exact(zeros).max_f - 1e-12
    assert best.certificate.verify(zeros).phi.upper <= best.upper


def test_kl_is_bounded_from_below_by_moments(rng):
    for _ in range(5):
        p, q = (zb.Ising(*random_ising(rng, 4, 0.3)) for _ in range(2))
        states = 2 * ((np.arange(16)[:, None] >> np.arange(4)) & 1) - 1
        table, other = (np.exp(m.value(states) - zb.exact(m).log_z.estimate) for m in (p, q))
        truth = float((table * np.log(table / other)).sum())
        for answer in [zb.kl(p, q), zb.kl(table, other), zb.kl(p, other, features="degree:2"), zb.kl(p, q, greedy=2)]:
            assert np.isclose(answer.kl, truth) and -1e-12 <= answer.kl_lower <= truth + 1e-12
            assert answer.kl_lower_diag <= truth + 1e-9
        assert len(answer.steps) == 2 and answer.features[-1] == answer.steps[-1].feature
        assert all(step.phi_upper is None for step in answer.steps)
        assert all(step.phi_upper >= zb.exact(p).phi.upper for step in zb.kl(p, greedy=2).steps)
        assert np.isclose(zb.kl(p, q, features="all").kl_lower, truth, atol=1e-6)
    assert np.isclose(zb.kl(table).kl, np.log(16) + (table * np.log(table)).sum())
    assert "Kl(kl=" in repr(answer) and "<table>" in answer._repr_html_()
    infinite = zb.kl([0.5, 0.5], [1.0, 0.0])
    assert infinite.kl is None and "infinite" in infinite.reason
    for bad in [[0.5, 0.25, 0.25], [-1.0, 2.0], [0.0, 0.0]]:
        with pytest.raises(zb.ZboundError):
            zb.kl(bad)
