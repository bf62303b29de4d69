"""Models: what goes in, what is refused, what comes out."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ROOT, brute_force, random_ising

import zbound as zb


def test_dense_sparse_upper_and_symmetric_matrices_are_the_same_model(rng):
    h, J = random_ising(rng, 6)
    model = zb.Ising(h, J)
    upper = np.triu(J, 1)
    others = [upper, np.asfortranarray(J), sp.csr_matrix(J), sp.coo_array(upper), sp.csc_matrix(J), J.tolist()]
    assert all(zb.Ising(h, other) == model for other in others)
    edges = np.argwhere(upper)
    assert zb.Ising.from_edges(h, edges[::-1, ::-1], upper[tuple(edges[::-1].T)]) == model
    assert np.array_equal(model.fields, h) and np.array_equal(model.edges, edges)
    assert np.array_equal(model.couplings, upper[tuple(edges.T)]) and model.constant == 0.0


def test_other_number_types_are_converted():
    J = np.array([[0, 1], [1, 0]])
    assert zb.Ising([1, 2], J) == zb.Ising(np.float32([1, 2]), J.astype(np.float32))
    assert zb.Ising(np.arange(6.0)[::3], J).fields.tolist() == [0.0, 3.0]


@pytest.mark.parametrize(
    ("h", "J", "message"),
    [
        ([0, 0], [[0, 1], [2, 0]], "differ"),
        ([0, 0], [[0, 0], [2, 0]], "differ"),
        ([0, 0], [[1, 0], [0, 0]], "diagonal"),
        ([0, 0], sp.eye(2), "diagonal"),
        ([0, 0], [[0, 1, 2], [0, 0, 0], [0, 0, 0]], "shape"),
        ([np.nan, 0], None, "field 0"),
        ([0, 0], [[0, np.inf], [0, 0]], "coupling"),
        ([0, 0], [[0, np.nan], [np.nan, 0]], "differ"),
        ([0, 0, 0], sp.coo_matrix(([1.0, 2.0], ([0, 2], [1, 0])), shape=(3, 3)), "differ"),
    ],
)
def test_bad_parameters_are_named(h, J, message):
    with pytest.raises(zb.ModelError, match=message) as caught:
        zb.Ising(h, J)
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, zb.ZboundError)


def test_edge_lists_are_checked():
    for edges, values, message in [
        ([[0, 1, 2]], [1.0], "shape"),
        ([[0, 1]], [1.0, 2.0], "shape"),
        ([[0, 5]], [1.0], "range"),
        ([[0, -1]], [1.0], "-1"),
        ([[0, 1], [1, 0]], [1.0, 1.0], "twice"),
    ]:
        with pytest.raises(zb.ModelError, match=message):
            zb.Ising.from_edges([0, 0], edges, values)
    empty = zb.Ising.from_edges([0, 0], np.zeros((0, 2), int), [])
    assert empty.edges.shape == (0, 2)


def test_sparse_repeats_are_summed_and_stored_zeros_are_edges():
    J = sp.coo_matrix(([0.25, 0.5, 0.0], ([0, 0, 1], [1, 1, 2])), shape=(3, 3))
    model = zb.Ising(np.zeros(3), J)
    assert model.couplings.tolist() == [0.75, 0.0]


def test_polynomials_of_any_arity(rng):
    coefficients = {(): 0.5, (0,): 1.0, (1, 3): -2.0, (0, 1, 2): 0.75, (0, 1, 2, 3): -0.25}
    model = zb.Polynomial(4, coefficients)
    assert {k: v for k, v in model.coefficients.items() if v} == coefficients
    value = lambda x: sum(v * np.prod(x[list(k)]) for k, v in coefficients.items())  # noqa: E731
    x = rng.choice([-1, 1], size=(10, 4))
    assert np.allclose(model.value(x), [value(row) for row in x])
    assert np.isclose(zb.exact(model).log_z.estimate, brute_force(value, 4))
    assert repr(model) == "Polynomial(d=4, edges=1, terms=2)"
    for bad in [{(0, 0): 1.0}, {(7,): 1.0}, {(0, 1): 1.0, (1, 0): 1.0}, {(0,): np.nan}]:
        with pytest.raises(zb.ModelError):
            zb.Polynomial(4, bad)


def test_values_are_those_of_the_formula(rng):
    h, J = random_ising(rng, 5)
    model = zb.Ising(h, J, constant=1.5)
    x = rng.choice([-1, 1], size=5)
    assert np.isclose(model.value(x), 1.5 + h @ x + x @ J @ x / 2)
    assert isinstance(model.value(x), float)
    with pytest.raises(zb.ModelError):
        model.value([0, 1, 1, 1, 1])


def test_files_are_read_and_written(tmp_path, rng):
    h, J = random_ising(rng, 4)
    model = zb.Ising(h, J, constant=-1.0)
    for name in ["a.json", "a.uai", "a.fg"]:
        model.write(tmp_path / name)
        again = zb.read(tmp_path / name)
        assert again.path == str(tmp_path / name)
        assert np.isclose(zb.exact(again).log_z.estimate, zb.exact(model).log_z.estimate)
    assert zb.read(tmp_path / "a.json") == model and isinstance(zb.read(tmp_path / "a.uai"), zb.Model)
    with pytest.raises(zb.SettingError, match="format="):
        model.write(tmp_path / "a.xyz")
    with pytest.raises(zb.SettingError, match="format="):
        zb.read(tmp_path / "a.xyz")
    with pytest.raises(FileNotFoundError) as missing:
        zb.read(tmp_path / "none.json")
    assert missing.value.filename == str(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text('{"d": 2,\n "fields": [1]}')
    with pytest.raises(zb.ParseError, match=r"bad.json:\d+:"):
        zb.read(tmp_path / "bad.json")


def test_evidence_leaves_d_and_keeps_the_variables():
    path = ROOT / "examples" / "sprinkler.uai"
    model = zb.read(path, evidence=str(path) + ".evid")
    assert model.d + len(model.evidence) == model.variables
    answer = zb.exact(model)
    for variable, spin in model.evidence.items():
        assert answer.marginals[variable] == (spin + 1) / 2
    again = zb.read(path).with_evidence(model.evidence)
    assert zb.exact(again).log_z == answer.log_z
    with pytest.raises(zb.ModelError):
        model.with_evidence({99: 1})


def test_models_survive_pickling(rng):
    h, J = random_ising(rng, 5)
    sprinkler = zb.read(ROOT / "examples" / "sprinkler.uai").with_evidence({0: 1})
    models = [
        zb.Ising(h, J, constant=0.25, names="abcde"),
        zb.Ising.from_edges(h, [[0, 1], [1, 2]], [0.0, 1.0]),
        zb.Polynomial(4, {(0, 1, 2): 1.0, (1, 2): 0.5}),
        zb.Polynomial(2, {(0, 1): 1.0}),
        zb.read(ROOT / "examples" / "cubic.json"),
        sprinkler,
    ]
    for model in models:
        again = pickle.loads(pickle.dumps(model))
        assert again == model and type(again) is type(model), model
        assert (again.names, again.path) == (model.names, model.path) and hash(again) == hash(model)


def test_generated_models_do_not_depend_on_the_machine():
    model = zb.generate("logdet-mixed", "complete", d=40, w=0.25, seed=3)
    assert model == zb.read(ROOT / "examples" / "glass40.json")
    with pytest.raises(zb.SettingError, match="give w"):
        zb.generate("trw-mixed", "grid", d=4)
    with pytest.raises(zb.SettingError, match="unknown family"):
        zb.generate("nonsense", "grid", d=4)
