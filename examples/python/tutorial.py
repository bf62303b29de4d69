# %% [markdown]
# # Certified bounds on log Z, in ten minutes
# Open this file as a notebook (VS Code, Jupytext) or run it: every cell checks what it says.

# %% A model: f(x) = h.x + sum_{i<j} J_ij x_i x_j on spins -1 and +1, p(x) proportional to exp(f(x)).
import numpy as np
import zbound as zb

rng = np.random.default_rng(0)
d = 12
h = rng.normal(size=d) * 0.3
J = np.triu(rng.normal(size=(d, d)) / np.sqrt(d), 1)
model = zb.Ising(h, J)
print(model)

# %% With twelve spins the truth is within reach.
truth = zb.exact(model)
print(truth)

# %% One method gives a Solution. `upper` is proved; `estimate` is not a bound.
quantum = zb.bound(model, "quantum")
print(quantum)
assert quantum.log_z.upper >= truth.log_z.lower

# %% Marginals P(x_i = +1) come along.
print("largest error of a marginal:", np.abs(quantum.marginals - truth.marginals).max())

# %% Several methods give Results: compare them, take the best.
results = zb.bound(model, ["quantum", "logdet", "trw"])
print(results.to_dataframe()[["method", "log_z_upper", "status", "seconds"]])
print("best:", results.best.upper_method, results.log_z.upper)

# %% More features, a tighter bound: all products of two spins about halve what is left.
for features in ["degree:1", "first:40", "degree:2"]:
    upper = zb.bound(model, "quantum", features=features).log_z.upper
    print(f"{features:9s} log Z <= {upper:.6f}, above the truth by {upper - truth.log_z.estimate:.2e}")

# %% Every bound comes with a certificate that another program can check.
results.certificate.save("proof.zbc")
print(zb.verify(model, "proof.zbc"))

# %% Pictures.
ax = results.plot_bracket()
ax.axvline(truth.log_z.estimate, color="k", linewidth=1)
ax.figure.savefig("bracket.png")
results.plot_convergence().figure.savefig("convergence.png")

# %% Bounds are differentiable: the gradient is the moments.
value, gradient = zb.value_and_gradient(model, "quantum")
moved, _ = zb.value_and_gradient(zb.Ising(h + 1e-5, J), "quantum")
assert abs((moved - value) / 1e-5 - gradient.fields.sum()) < 1e-3

# %% Long work has limits, and what was proved until then is returned.
large = zb.generate("logdet-mixed", "complete", d=150, w=0.1, seed=1)
print(zb.bound(large, "quantum", time_limit=1.0))

# %% A small study, as a table. Give `executor=` to run it on a pool or a cluster.
grid = {"family": "trw-mixed", "graph": "grid", "d": 16, "w": [0.2, 0.6, 1.0], "seed": range(2), "method": ["exact", "trw"]}
sweep = zb.sweep(grid)
print(sweep.to_dataframe().pivot_table(index="w", columns="method", values="log_z_upper"))
