"""Differentiable bounds: the moments are the gradient."""

import numpy as np
import pytest
from conftest import need, random_ising

import zbound as zb

STEP = 1e-4
EDGES = np.array([[0, 1], [3, 2], [1, 2], [0, 3]])


def parameters(rng):
    return rng.normal(size=4), rng.normal(size=4)


def finite_differences(function, point):
    moves = STEP * np.eye(len(point))
    return np.array([(function(point + m) - function(point - m)) / (2 * STEP) for m in moves])


@pytest.mark.parametrize("method", ["quantum", "trw", "logdet", "exact"])
@pytest.mark.parametrize("eps", [1.0, 0.5])
def test_gradients_agree_with_finite_differences(rng, method, eps):
    h, J = random_ising(rng, 5, 0.5)
    model = zb.Ising(h, J)
    options = {"method": method, "eps": eps, "tol": 1e-10}
    value, gradient = zb.value_and_gradient(model, **options)
    assert value >= zb.exact(model, eps=eps).log_z.lower
    of = lambda h, v: zb.bound(zb.Ising.from_edges(h, model.edges, v), **options).log_z.upper  # noqa: E731
    assert np.allclose(gradient.fields, finite_differences(lambda x: of(x, model.couplings), h), atol=2e-5)
    couplings = finite_differences(lambda v: of(h, v), model.couplings)
    assert np.allclose(gradient.couplings, couplings, atol=2e-5)


def test_edges_of_coupling_zero_have_a_gradient():
    model = zb.Ising.from_edges([0.5, 0.25, 0.0], [[0, 1], [1, 2]], [0.0, 0.0])
    for method in ["quantum", "exact", "trw"]:
        _, gradient = zb.value_and_gradient(model, method)
        assert gradient.couplings.shape == (2,)


def test_what_has_no_gradient_says_so():
    with pytest.raises(zb.NotApplicableError, match="several"):
        zb.value_and_gradient(zb.Ising([0.0]), "all")
    with pytest.raises(zb.NotApplicableError, match="moments"):
        zb.value_and_gradient(zb.Ising([0.0, 0.0], [[0, 1.0], [1.0, 0]]), "mean-field")


SETS = [(), (0,), (3,), (0, 1), (2, 3), (0, 1, 2), (1, 2, 4), (0, 1, 2, 3), (0, 1, 2, 3, 4)]
MORE = "degree:3"


@pytest.mark.parametrize("eps", [1.0, 0.5])
@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("quantum", {}),
        ("quantum", {"features": MORE}),
        ("quantum-greedy", {"greedy": 2}),
        ("quantum-diag", {}),
        ("exact", {}),
    ],
)
def test_every_coefficient_of_a_polynomial_has_a_gradient(rng, method, options, eps):
    values = 0.5 * rng.normal(size=len(SETS))
    options = {"tol": 1e-10, "eps": eps, **options}

    def of(values):
        return zb.bound(zb.Polynomial(5, dict(zip(SETS, values))), method, **options).log_z.upper

    value, moments = zb.value_and_gradient(zb.Polynomial(5, dict(zip(SETS, values))), method, **options)
    assert value == of(values) and moments[()] == 1.0 and set(moments) >= set(SETS)
    wanted = finite_differences(of, values)
    assert np.allclose([moments[s] for s in SETS], wanted, atol=1e-4), np.array([moments[s] for s in SETS]) - wanted


def test_terms_of_coefficient_zero_have_a_gradient():
    model = zb.Polynomial(4, {(0,): 0.5, (1,): 0.25, (2,): -0.5, (0, 1, 2): 0.0, (0, 1): 0.0})
    _, truth = zb.value_and_gradient(model, "exact")
    product = np.tanh(0.5) * np.tanh(0.25) * np.tanh(-0.5)
    assert np.isclose(truth[0, 1, 2], product)
    _, moments = zb.value_and_gradient(model, "quantum", features="all")
    assert np.isclose(moments[0, 1, 2], product, atol=1e-5)


def test_moments_of_terms_come_with_those_of_pairs(rng):
    model = zb.Polynomial(4, {(0, 1, 2): 1.0, (1, 2): 0.5})
    assert zb.bound(model, "quantum").terms is None
    assert list(zb.bound(model, "quantum", pair_moments=True).terms) == [(0, 1, 2)]
    assert zb.bound(zb.Ising([0.5]), "quantum", pair_moments=True).terms is None
    fixed = zb.read_bytes(b'{"d":5,"fields":[0.1,0,0,0,0],"terms":[[[0,1,2,4],1.0]]}', "json").with_evidence({1: -1})
    assert list(zb.bound(fixed, "quantum", pair_moments=True).terms) == [(0, 2, 4)]


def test_torch_polynomials_agree_with_finite_differences(rng):
    torch = need("torch")
    from zbound.torch import polynomial_log_z_bound

    values = torch.tensor(0.5 * rng.normal(size=len(SETS)), requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda v: polynomial_log_z_bound(v, SETS, 5, tol=1e-11) ** 2, (values,), eps=STEP, atol=1e-4
    )
    narrow = polynomial_log_z_bound(values.detach().float(), SETS, 5)
    wide = polynomial_log_z_bound(values.detach().float().double(), SETS, 5)
    assert narrow.dtype == torch.float32 and float(narrow) >= float(wide)
    with pytest.raises(zb.NotApplicableError, match="once"):
        polynomial_log_z_bound(values[:2], [(0, 1), (1, 0)], 5)


def test_jax_polynomials_agree_with_finite_differences(rng):
    jax = need("jax")
    from zbound.jax import polynomial_log_z_bound

    values = 0.5 * rng.normal(size=len(SETS))
    objective = lambda v: polynomial_log_z_bound(v, SETS, 5, tol=1e-11) ** 2  # noqa: E731
    jax.config.update("jax_enable_x64", True)
    try:
        found = jax.jit(jax.grad(objective))(values)
        assert np.allclose(found, finite_differences(lambda x: float(objective(x)), values), atol=1e-4)
    finally:
        jax.config.update("jax_enable_x64", False)


@pytest.mark.parametrize("method", ["quantum", "trw"])
def test_torch_gradients_agree_with_finite_differences(rng, method):
    torch = need("torch")
    from zbound.torch import log_z_bound

    h, v = (torch.tensor(p, requires_grad=True) for p in parameters(rng))
    assert torch.autograd.gradcheck(
        lambda h, v: log_z_bound(h, v, EDGES, method, tol=1e-11) ** 2, (h, v), eps=STEP, atol=1e-4
    )
    narrow = log_z_bound(h.detach().float(), v.detach().float(), EDGES, method)
    wide = log_z_bound(h.detach().float().double(), v.detach().float().double(), EDGES, method)
    assert narrow.dtype == torch.float32 and float(narrow) >= float(wide)


@pytest.mark.parametrize("method", ["quantum", "trw"])
def test_jax_gradients_agree_with_finite_differences(rng, method):
    jax = need("jax")
    from zbound.jax import log_z_bound

    h, v = parameters(rng)
    objective = lambda h, v: log_z_bound(h, v, EDGES, method, tol=1e-11) ** 2  # noqa: E731
    jax.config.update("jax_enable_x64", True)
    try:
        of_h, of_v = jax.jit(jax.grad(objective, argnums=(0, 1)))(h, v)
        assert np.allclose(of_h, finite_differences(lambda x: float(objective(x, v)), h), atol=1e-4)
        assert np.allclose(of_v, finite_differences(lambda x: float(objective(h, x)), v), atol=1e-4)
        wide = float(log_z_bound(np.float32(h).astype(float), np.float32(v).astype(float), EDGES, method))
    finally:
        jax.config.update("jax_enable_x64", False)
    narrow = log_z_bound(np.float32(h), np.float32(v), EDGES, method)
    assert narrow.dtype == np.float32 and float(narrow) >= wide
