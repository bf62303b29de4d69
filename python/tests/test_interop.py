"""Other packages, each against the real one."""

import itertools

import numpy as np
import pytest
from conftest import need, random_ising

import zbound as zb


@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
@pytest.mark.parametrize("beta", [1.0, 0.7])
def test_dimod_models_keep_sign_beta_and_offset(rng, vartype, beta):
    dimod = need("dimod")
    for _ in range(5):
        names = list("abcde")
        linear = {n: rng.normal() for n in names}
        quadratic = {pair: rng.normal() for pair in itertools.combinations(names, 2) if rng.random() < 0.6}
        bqm = dimod.BinaryQuadraticModel(linear, quadratic, rng.normal(), vartype)
        model = zb.from_dimod(bqm, beta=beta)
        assert model.names == tuple(bqm.variables)
        states = np.array(list(itertools.product([-1, 1], repeat=5)))
        samples = states if vartype == "SPIN" else (states + 1) // 2
        energies = bqm.energies((samples, list(bqm.variables)))
        assert np.allclose(model.value(states), -beta * energies, atol=1e-12)
        back = zb.to_dimod(model, beta=beta, vartype=vartype)
        assert list(back.variables) == list(bqm.variables) and back.vartype is bqm.vartype
        assert np.allclose(back.energies((samples, list(bqm.variables))), energies, atol=1e-12)
        truth = np.log(np.exp(-beta * energies).sum())
        assert zb.bound(model, "quantum").log_z.upper >= truth - 1e-12


def test_dimod_refuses_higher_terms_and_takes_an_empty_model():
    dimod = need("dimod")
    with pytest.raises(zb.NotApplicableError):
        zb.to_dimod(zb.Polynomial(3, {(0, 1, 2): 1.0}))
    assert zb.from_dimod(dimod.BinaryQuadraticModel({0: 1.0}, {}, 0.0, "SPIN")).fields.tolist() == [-1.0]


def test_networkx_graphs_keep_weights_and_fields(rng):
    networkx = need("networkx")
    graph = networkx.Graph()
    graph.add_node("z", field=0.5)
    graph.add_edge("z", "a", weight=-1.5)
    graph.add_edge("a", "q")
    model = zb.from_networkx(graph)
    assert model.names == ("z", "a", "q") and model.fields.tolist() == [0.5, 0.0, 0.0]
    assert model.edges.tolist() == [[0, 1], [1, 2]] and model.couplings.tolist() == [-1.5, 1.0]
    grid = zb.from_networkx(networkx.grid_2d_graph(3, 4), default=0.3)
    assert (grid.d, len(grid.edges)) == (12, 17)
    for bad in [networkx.DiGraph([(0, 1)]), networkx.MultiGraph([(0, 1), (0, 1)]), networkx.Graph([(0, 0)])]:
        with pytest.raises(zb.ModelError):
            zb.from_networkx(bad)


def test_pgmpy_networks_have_the_same_partition_function(rng):
    need("pgmpy")
    from pgmpy.factors.discrete import DiscreteFactor

    try:
        from pgmpy.models import DiscreteMarkovNetwork as Network
    except ImportError:
        from pgmpy.models import MarkovNetwork as Network
    names = list("abcd")
    edges = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("b", "d")]
    network = Network(edges)
    network.add_factors(*(DiscreteFactor(e, [2, 2], rng.uniform(0.1, 3.0, 4)) for e in edges))
    network.add_factors(DiscreteFactor(["b", "c", "d"], [2, 2, 2], rng.uniform(0.0, 1.0, 8)))
    model = zb.from_pgmpy(network)
    assert sorted(model.names) == names
    truth = np.log(network.get_partition_function())
    answer = zb.exact(model)
    assert np.isclose(answer.log_z.estimate, truth)
    assert zb.bound(model, "quantum").log_z.upper >= truth - 1e-12
    joint = network.factors[0]
    for factor in network.factors[1:]:
        joint = joint * factor
    for k, name in enumerate(model.names):
        others = [n for n in names if n != name]
        marginal = joint.marginalize(others, inplace=False).normalize(inplace=False).values
        assert np.isclose(answer.marginals[k], marginal[1])
    wide = Network([("a", "b")])
    wide.add_factors(DiscreteFactor(["a", "b"], [3, 2], np.ones(6)))
    assert np.isclose(zb.exact(zb.from_pgmpy(wide)).log_z.estimate, np.log(6))


def test_scipy_matrices_come_in_without_becoming_dense():
    sparse = need("scipy.sparse")
    d = 20_000
    J = sparse.diags([np.full(d - 1, 0.5)], [1], format="csr")
    model = zb.Ising(np.zeros(d), J + J.T)
    assert len(model.edges) == d - 1
    solution = zb.exact(model)
    assert np.isclose(solution.log_z.estimate, np.log(2) + (d - 1) * np.log(2 * np.cosh(0.5)))
