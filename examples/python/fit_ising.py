"""Fits an Ising model to data by maximising a certified lower bound on the likelihood.

The mean log-likelihood of data x_1, ..., x_N under p = exp(f)/Z is `mean f(x_k) - log Z`. Replacing log Z by a
certified upper bound U(theta) gives a lower bound that holds whatever the solver did, is concave in
theta, and has the gradient `mean of the features - moments of the relaxation`.

The bound decides what is found: a tree-reweighted one is tightest on trees, and its best model is one, with couplings
that end at zero. `combined` has no such preference.
"""

import sys

import numpy as np
import zbound as zb
from scipy.optimize import minimize


def sample(model: zb.Ising, count: int, seed: int) -> np.ndarray:
    """Exact samples of a small model, by listing its states."""
    states = np.array(np.meshgrid(*[[-1, 1]] * model.d)).reshape(model.d, -1).T
    weights = np.exp(model.value(states) - zb.exact(model).log_z.estimate)
    rng = np.random.default_rng(seed)
    return states[rng.choice(len(states), size=count, p=weights / weights.sum())]


def fit(data: np.ndarray, edges: np.ndarray, method: str = "combined") -> tuple[zb.Ising, float]:
    """The model that maximises the bound, and the certified lower bound on its mean log-likelihood."""
    d = data.shape[1]
    means, pairs = data.mean(axis=0), (data[:, edges[:, 0]] * data[:, edges[:, 1]]).mean(axis=0)

    def negative_bound(theta: np.ndarray) -> tuple[float, np.ndarray]:
        model = zb.Ising.from_edges(theta[:d], edges, theta[d:])
        upper, moments = zb.value_and_gradient(model, method)
        value = upper - theta[:d] @ means - theta[d:] @ pairs
        return value, np.concatenate([moments.fields - means, moments.couplings - pairs])

    found = minimize(negative_bound, np.zeros(d + len(edges)), jac=True, method="L-BFGS-B")
    return zb.Ising.from_edges(found.x[:d], edges, found.x[d:]), -float(found.fun)


truth = zb.generate("trw-mixed", "grid", d=9, w=0.8, seed=3)
data = sample(truth, 2000, seed=1)
model, certified = fit(data, truth.edges)

likelihood = model.value(data).mean() - zb.exact(model).log_z.estimate
uniform = -truth.d * np.log(2)
best = truth.value(data).mean() - zb.exact(truth).log_z.estimate
print(f"mean log-likelihood: uniform {uniform:.4f}, truth {best:.4f}")
print(f"fitted model: certified >= {certified:.4f}, exactly {likelihood:.4f}")
print("largest error of a coupling:", np.abs(model.couplings - truth.couplings).max().round(3))

worst = np.abs(model.couplings - truth.couplings).max()
strong = np.abs(truth.couplings) > 0.05
assert worst < 0.5 and np.abs(model.couplings[strong]).min() > 1e-3, "every coupling is found"
assert uniform < certified <= likelihood + 1e-9, "the bound must hold"
assert likelihood - uniform > 0.9 * (best - uniform), "the fit must explain most of what the truth does"

# Recovered against true couplings: python fit_ising.py couplings.png
if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    tree, _ = fit(data, truth.edges, "trw")
    figure, axes = plt.subplots(figsize=(4.5, 4.5), layout="constrained")
    ends = [truth.couplings.min(), truth.couplings.max()]
    axes.plot(ends, ends, color="0.7", zorder=0)
    axes.plot(truth.couplings, tree.couplings, "x", color="C1", label="trw: some end at zero")
    axes.plot(truth.couplings, model.couplings, "o", color="C0", label="combined")
    axes.set_xlabel("true coupling")
    axes.set_ylabel("recovered coupling")
    axes.legend()
    figure.savefig(sys.argv[1])
