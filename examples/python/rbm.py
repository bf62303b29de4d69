"""Trains a small restricted Boltzmann machine and says how good it is: a proved bracket beside an estimate.

Annealed importance sampling (AIS) is how the likelihood of such machines is usually reported: a number with an error
bar that may be wrong. The bracket is a proof. Needs scikit-learn.
"""

import numpy as np
import zbound as zb
from sklearn.datasets import load_digits
from sklearn.neural_network import BernoulliRBM

data = (load_digits().data > 7).astype(float)  # 1797 digits of 8 x 8 pixels
train, test = data[:1500], data[1500:]

print(f"{'hidden':>6} {'proved log Z':>29} {'AIS':>20} {'proved mean log-likelihood of the test digits':>48}")
for hidden in (8, 16, 20):
    machine = BernoulliRBM(n_components=hidden, learning_rate=0.05, n_iter=15, random_state=0).fit(train)
    rbm = zb.Rbm(machine.components_, machine.intercept_visible_, machine.intercept_hidden_)
    proved = zb.bound(rbm.model, time_limit=30).log_z
    estimate = zb.bound(rbm.model, "ais", time_limit=10)
    likelihood = rbm.log_likelihood_bounds(test, time_limit=30)
    print(
        f"{hidden:6} {proved.lower:14.6f} {proved.upper:14.6f} {estimate.log_z.estimate:20.4f} "
        f"{likelihood.lower:24.6f} {likelihood.upper:23.6f}"
    )
    assert proved.upper - proved.lower < 1e-6, "a layer of so few units is summed out exactly"
    assert likelihood.lower <= likelihood.upper
    assert likelihood.lower > -64 * np.log(2), "the machine has learned something"
