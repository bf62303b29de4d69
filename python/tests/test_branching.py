"""Branching: the bracket holds the truth and does not depend on where its tasks run."""

import os
import signal
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

import zbound as zb


def test_the_bracket_holds_the_truth_until_it_is_closed():
    for seed in range(5):
        model = zb.generate("gaussian", "complete", d=9, seed=seed)
        exact = zb.exact(model).log_z
        found = zb.branch(model, splits=1)
        assert found.status == "converged"
        assert found.log_z.lower <= exact.upper and exact.lower <= found.log_z.upper
        widths = [high - low for _, low, high in found.history]
        assert widths == sorted(widths, reverse=True)


def test_the_method_branch_gives_both_sides():
    model = zb.generate("gaussian", "complete", d=10, seed=3)
    solution = zb.bound(model, "branch")
    exact = zb.exact(model).log_z.estimate
    assert solution.log_z.lower <= exact <= solution.log_z.upper
    assert solution.log_z.upper - solution.log_z.lower < 1e-6


@pytest.fixture(scope="module")
def hard():
    # Large enough that parts are not summed exactly at once.
    return zb.generate("gaussian", "complete", d=34, seed=3)


def test_a_process_pool_gives_the_same_bracket(hard):
    alone = zb.branch(hard, max_tasks=9, splits=1, method="quantum")
    with ProcessPoolExecutor(2) as pool:
        together = zb.branch(hard, max_tasks=9, splits=1, method="quantum", executor=pool)
    assert alone.log_z == together.log_z
    assert alone.tasks == together.tasks == 9


def test_a_killed_worker_loses_nothing(hard):
    alone = zb.branch(hard, max_tasks=9, splits=1, method="quantum")
    with ProcessPoolExecutor(1) as pool:
        victim = pool.submit(os.getpid).result()
        os.kill(victim, signal.SIGKILL)
        with pytest.warns(RuntimeWarning, match="executor broke"):
            together = zb.branch(hard, max_tasks=9, splits=1, method="quantum", executor=pool)
    assert alone.log_z == together.log_z


def test_bad_requests_are_named(hard):
    with pytest.raises(zb.SettingError, match="splits"):
        zb.branch(hard, splits=0)
    with pytest.raises(zb.SettingError, match="bound parts"):
        zb.branch(hard, method="mean-field")


def test_intervals_on_a_process_pool_are_those_of_one_process():
    model = zb.generate("trw-mixed", "grid", d=16, w=1.0, seed=2)
    alone = zb.marginal_intervals(model, pairs=[(0, 5)], variables=range(16))
    with ProcessPoolExecutor(2) as pool:
        together = zb.marginal_intervals(model, pairs=[(0, 5)], variables=range(16), executor=pool)
    assert together.variables == alone.variables and together.status == alone.status
    assert (together == alone).all()
    assert (together.pairs[0, 5] == alone.pairs[0, 5]).all()


def test_slices_on_an_executor_add_up_to_the_whole():
    grid = zb.generate("trw-mixed", "grid", d=64, w=1.0, seed=3)
    whole = zb.exact(grid, eps=0.7)
    for limit in (2000, 500):
        with ThreadPoolExecutor(2) as pool:
            found = zb.exact(grid, eps=0.7, memory_limit=limit, executor=pool)
        assert found.log_z.lower <= whole.log_z.upper and whole.log_z.lower <= found.log_z.upper
        assert found.log_z.upper - found.log_z.lower < 1e-9
        assert abs(found.phi.estimate - whole.phi.estimate) < 1e-9
        assert found.marginals is None and found.algorithm == "elimination"
    with ThreadPoolExecutor(1) as pool, pytest.raises(zb.MemoryLimitError):
        zb.exact(grid, memory_limit=8, executor=pool)
