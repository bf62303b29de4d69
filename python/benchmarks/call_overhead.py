"""What a call from Python costs above the solve itself.

    python python/benchmarks/call_overhead.py

`Solution.seconds` is measured around the solve inside the library; the rest of a call is arguments, threads, results.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

import zbound as zb


class Overhead(NamedTuple):
    """Seconds per call above the solve."""

    fast: float
    median: float
    slow: float
    solve: float


def measure(d: int = 5, method: str = "quantum", calls: int = 2000) -> Overhead:
    """The tenth, fiftieth and ninetieth percentile over `calls` calls or five seconds, and the median of the solve."""
    model = zb.generate("gaussian", "complete", d=d, seed=1)
    above, inside = [], []
    end = time.perf_counter() + 5.0
    while len(above) < calls and (not above or time.perf_counter() < end):
        start = time.perf_counter()
        solution = zb.bound(model, method)
        above.append(time.perf_counter() - start - solution.seconds)
        inside.append(solution.seconds)
    fast, median, slow = np.percentile(above, [10, 50, 90])
    return Overhead(float(fast), float(median), float(slow), float(np.median(inside)))


if __name__ == "__main__":
    print("method         d   overhead p10   p50   p90   solve   (microseconds)")
    for method in ["quantum", "trw", "mean-field", "exact"]:
        for d in [5, 20]:
            fast, median, slow, solve = (1e6 * value for value in measure(d, method))
            print(f"{method:12s} {d:3d} {fast:14.1f} {median:5.1f} {slow:5.1f} {solve:7.1f}")
