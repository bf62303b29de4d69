"""Certified bounds on the log-partition function of Ising models and binary Markov random fields.

>>> import numpy as np, zbound as zb
>>> h = np.array([0.1, 0.0, -0.2])
>>> J = np.array([[0, 0.5, 0], [0.5, 0, -1.0], [0, -1.0, 0]])
>>> model = zb.Ising(h, J)  # f(x) = h.x + sum_{i<j} J_ij x_i x_j, x in {-1,+1}^3
>>> results = zb.bound(model, ["quantum", "trw"])
>>> results.best.upper_method  # trw is exact on a tree
'trw'
>>> results["quantum"].certificate.verify(model).log_z.upper == results["quantum"].log_z.upper
True
"""

from ._zbound import Certificate, Ising, Model, Polynomial, __version__
from .answers import Exact, Intervals, Kl, KlStep, Map, Samples
from .bounds import Best, Bounds, History, PairMoments, Step, Trace, Verification
from .branching import Branching, branch
from .errors import (
    CertificateError,
    FeaturesError,
    InternalError,
    MemoryLimitError,
    ModelError,
    NotApplicableError,
    ParseError,
    SettingError,
    StoppedError,
    ZboundError,
)
from .files import generate, read, read_bytes
from .gradient import Gradient, value_and_gradient
from .interop import from_dimod, from_networkx, from_pgmpy, to_dimod
from .intervals import marginal_intervals
from .models import FactorModel, Qubo
from .progress import Progress
from .queries import kl, map, sample
from .rbm import Likelihood, Rbm
from .results import Results, Solution
from .scan import Scan, temperature_scan
from .solve import bound, exact, verify
from .sweep import Sweep, sweep

__all__ = [
    "Best",
    "Bounds",
    "Branching",
    "Certificate",
    "CertificateError",
    "Exact",
    "FactorModel",
    "FeaturesError",
    "Gradient",
    "History",
    "InternalError",
    "Intervals",
    "Ising",
    "Kl",
    "KlStep",
    "Likelihood",
    "Map",
    "MemoryLimitError",
    "Model",
    "ModelError",
    "NotApplicableError",
    "PairMoments",
    "ParseError",
    "Polynomial",
    "Progress",
    "Qubo",
    "Rbm",
    "Results",
    "Samples",
    "Scan",
    "SettingError",
    "Solution",
    "Step",
    "StoppedError",
    "Sweep",
    "Trace",
    "Verification",
    "ZboundError",
    "__version__",
    "bound",
    "branch",
    "exact",
    "from_dimod",
    "from_networkx",
    "from_pgmpy",
    "generate",
    "kl",
    "map",
    "marginal_intervals",
    "read",
    "read_bytes",
    "sample",
    "sweep",
    "temperature_scan",
    "to_dimod",
    "value_and_gradient",
    "verify",
]
