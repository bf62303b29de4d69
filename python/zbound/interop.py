"""Models from and to other packages; each is imported when it is used."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from ._zbound import Ising, Model, Polynomial
from .errors import ModelError, NotApplicableError
from .models import FactorModel
from .files import read_bytes

if TYPE_CHECKING:
    import dimod
    import networkx

__all__ = ["from_dimod", "from_networkx", "from_pgmpy", "to_dimod"]


def from_dimod(
    bqm: Union[dimod.BinaryQuadraticModel, dimod.BinaryPolynomial], beta: float = 1.0
) -> Union[Ising, Polynomial]:
    """The Boltzmann distribution of a dimod model: f = -beta E, offset included.

    `bqm` is a `BinaryQuadraticModel`, or a `BinaryPolynomial` whose terms have any number of variables.

    BINARY variables become spins, 1 being +1; rounding on the way is part of the model's uncertainty, so
    bounds hold for the model as dimod has it. Spin k is `list(bqm.variables)[k]`, kept in `names`.

    >>> import dimod, zbound as zb
    >>> bqm = dimod.BinaryQuadraticModel({"a": 1.0}, {"ab": -0.5}, 0.25, "SPIN")
    >>> model = zb.from_dimod(bqm, beta=2.0)
    >>> model.names, model.fields.tolist()[0], model.couplings.tolist(), model.constant
    (('a', 'b'), -2.0, [1.0], -0.5)
    >>> cubic = dimod.BinaryPolynomial({"abc": -1.0, "a": 0.5}, "SPIN")
    >>> zb.from_dimod(cubic).d
    3
    """
    if not hasattr(bqm, "to_numpy_vectors"):
        return _from_polynomial(bqm, beta)
    names = list(bqm.variables)
    linear, (heads, tails, values), offset = bqm.to_numpy_vectors(variable_order=names)
    document = {
        "variable_type": bqm.vartype.name,
        "offset": float(offset),
        "linear_biases": np.asarray(linear, dtype=float).tolist(),
        "quadratic_biases": np.asarray(values, dtype=float).tolist(),
        "quadratic_head": np.asarray(heads).tolist(),
        "quadratic_tail": np.asarray(tails).tolist(),
    }
    model = read_bytes(json.dumps(document).encode(), "dimod", beta, names)
    assert isinstance(model, Ising)
    return model


def _from_polynomial(poly: dimod.BinaryPolynomial, beta: float) -> Union[Ising, Polynomial]:
    """f = -beta E of a dimod polynomial; the coefficients are those products, rounded to doubles."""
    names = sorted(poly.variables, key=lambda name: (str(type(name)), name))
    position = {name: k for k, name in enumerate(names)}
    terms = [(sorted(position[v] for v in term), -beta * float(bias)) for term, bias in poly.items()]
    if poly.vartype.name == "SPIN":
        spins = Polynomial(len(names), {tuple(term): value for term, value in terms}, names=names)
        f = spins.polynomial()
    else:
        # x_i = 1 for all i of a term, and nothing otherwise: the last entry of a table.
        constant = sum(value for term, value in terms if not term)
        tables = [(term, np.zeros((2,) * len(term))) for term, _ in terms if term]
        for (_, table), value in zip(tables, (value for term, value in terms if term)):
            table[(1,) * table.ndim] = value
        f = FactorModel([2] * len(names), tables, constant=constant, names=names).polynomial()
    assert isinstance(f, (Ising, Polynomial))
    return f


def to_dimod(model: Model, beta: float = 1.0, vartype: str = "SPIN") -> dimod.BinaryQuadraticModel:
    """The dimod binary quadratic model with E = -f/beta, over the free spins.

    >>> import zbound as zb
    >>> float(zb.to_dimod(zb.Ising([1.0, 0.0], [[0, 2.0], [2.0, 0]])).energy({0: 1, 1: 1}))
    -3.0
    """
    import dimod

    f = model if isinstance(model, Ising) else model.polynomial()
    if not isinstance(f, Ising):
        raise NotApplicableError("dimod's binary quadratic models are pairwise, this model has higher terms")
    names = f.names if f.names is not None else tuple(range(f.d))
    linear = {name: -h / beta for name, h in zip(names, f.fields.tolist())}
    edges, values = f.edges.tolist(), f.couplings.tolist()
    quadratic = {(names[i], names[j]): -v / beta for (i, j), v in zip(edges, values)}
    bqm = dimod.BinaryQuadraticModel({}, {}, -f.constant / beta, "SPIN")
    bqm.add_linear_from(linear)  # first, so that variables keep their order
    bqm.add_quadratic_from(quadratic)
    return bqm if vartype == "SPIN" else bqm.change_vartype(vartype, inplace=False)


def from_networkx(
    graph: networkx.Graph, weight: str = "weight", field: str = "field", default: float = 1.0
) -> Ising:
    """An Ising model on a graph: J_ij is the edge attribute `weight` (or `default`), h_i the node attribute
    `field` (or 0). Spins are numbered in the order of `graph.nodes`, kept in `names`.

    >>> import networkx, zbound as zb
    >>> zb.from_networkx(networkx.cycle_graph(5))
    Ising(d=5, edges=5)
    """
    if graph.is_directed() or graph.is_multigraph():
        raise ModelError("expected an undirected graph with at most one edge per pair")
    names = list(graph.nodes)
    position = {name: k for k, name in enumerate(names)}
    fields = np.array([graph.nodes[name].get(field, 0.0) for name in names], dtype=float)
    edges = [(position[a], position[b]) for a, b in graph.edges]
    values = [graph.edges[edge].get(weight, default) for edge in graph.edges]
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return Ising.from_edges(fields, pairs, np.array(values, dtype=float), names=names)


def from_pgmpy(network: Any) -> Model:
    """A pgmpy Markov network, variables of any number of states; state 1 of two is x = +1. A Bayesian network is
    moralised.

    Variables are numbered in the order of `network.nodes()`, kept in `names`. Zero potentials are kept:
    exact methods handle them, upper bounds raise them and say so.
    """
    if hasattr(network, "to_markov_model"):
        network = network.to_markov_model()
    names = list(network.nodes())
    position = {name: k for k, name in enumerate(names)}
    cardinalities = {name: int(network.get_cardinality(name)) for name in names}
    scopes, tables = [], []
    for factor in network.factors:
        # pgmpy and UAI agree: the last variable runs fastest.
        table = np.asarray(factor.values, dtype=float).ravel()
        scopes.append(" ".join(map(str, [len(factor.variables), *(position[v] for v in factor.variables)])))
        tables.append(f"{table.size}\n" + " ".join(map(repr, table.tolist())))
    preamble = ["MARKOV", str(len(names)), " ".join(str(cardinalities[name]) for name in names), str(len(scopes))]
    return read_bytes("\n".join(preamble + scopes + tables + [""]).encode(), "uai", 1.0, names)
