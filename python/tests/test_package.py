"""The package itself: documentation, types, examples, cost of a call."""

import doctest
import importlib
import os
import pkgutil
import subprocess
import sys

import pytest
from conftest import FULL, ROOT, need

import zbound as zb

OPTIONAL = {"zbound.torch", "zbound.jax"}
MODULES = ["zbound"] + [m.name for m in pkgutil.iter_modules(zb.__path__, "zbound.") if m.name not in OPTIONAL]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


def test_everything_public_is_documented():
    for name in zb.__all__:
        item = getattr(zb, name)
        assert name == "__version__" or (item.__doc__ and len(item.__doc__.split()) > 3), name


def test_stubs_match_the_extension():
    need("mypy")
    command = [sys.executable, "-m", "mypy.stubtest", "zbound._zbound"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT / "python" / "tests")
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.skipif(not FULL, reason="a second run of the type checker (scripts/test.sh --full)")
def test_the_package_passes_the_type_checker():
    need("mypy")
    config = ["--config-file", str(ROOT / "pyproject.toml"), "-p", "zbound"]
    run = subprocess.run(
        [sys.executable, "-m", "mypy", *config], capture_output=True, text=True, cwd=ROOT / "python" / "tests"
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_package_says_that_it_is_typed():
    assert os.path.exists(os.path.join(zb.__path__[0], "py.typed"))


def test_importing_starts_no_thread_and_no_heavy_package():
    heavy = "sorted({'scipy', 'matplotlib', 'pandas'} & set(sys.modules))"
    code = f"import sys, threading, zbound; print(threading.active_count(), {heavy})"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split(maxsplit=1) == ["1", "[]\n"]


def test_the_benchmark_of_a_call_runs():
    sys.path.insert(0, str(ROOT / "python" / "benchmarks"))
    try:
        call_overhead = importlib.import_module("call_overhead")
    finally:
        sys.path.pop(0)
    # How long a call takes is for the benchmark to say: other work shares the machine that runs the tests.
    assert call_overhead.measure(calls=20).fast > 0.0


@pytest.mark.parametrize("name", ["tutorial.py", "fit_ising.py", "rbm.py"])
def test_examples_run(name, tmp_path):
    need("matplotlib")
    if name == "rbm.py":
        need("sklearn")
    script = ROOT / "examples" / "python" / name
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    run = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_plots_show_every_method():
    need("matplotlib")
    results = zb.bound(zb.generate("logdet-mixed", "complete", d=8, w=0.5, seed=1), ["exact", "quantum", "trw"])
    bracket = results.plot_bracket()
    assert [t.get_text() for t in bracket.get_yticklabels()] == ["exact", "quantum", "trw"]
    convergence = results.plot_convergence()
    assert {t.get_text() for t in convergence.get_legend().get_texts()} == {"quantum", "trw"}
    assert results["quantum"].plot_convergence(ax=convergence) is convergence
    assert results["quantum"].plot_bracket().get_xlabel() == "log Z"
    assert results.plot().get_xlabel() == "seconds"
