"""Long work: interrupts, threads, processes, limits, progress."""

import concurrent.futures
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import zbound as zb

HARD = dict(family="gaussian", graph="complete", d=34, seed=1)  # enumeration takes minutes
LARGE = dict(family="logdet-mixed", graph="complete", d=900, w=0.05, seed=1)  # eigendecompositions take a while


INTERVALS = dict(family="logdet-mixed", graph="complete", d=120, w=0.2, seed=1)  # four solves for each spin


# Seconds that tell a call that ends from one that does not notice, however busy the machine is.
HANGS = 30.0


def interrupt(code: str) -> None:
    """Sends SIGINT to a process that is at work and must die of KeyboardInterrupt."""
    script = "import zbound as zb\nprint('ready', flush=True)\n" + textwrap.dedent(code)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline().strip() == b"ready"
    time.sleep(1.0)
    assert process.poll() is None, process.stderr.read().decode()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=HANGS)
    assert b"KeyboardInterrupt" in errors, errors.decode()


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize(
    "code",
    [
        "zb.exact(zb.generate('gaussian', 'complete', d=32, seed=1))",
        f"zb.bound(zb.generate(**{LARGE!r}), 'quantum', tol=1e-14)",
        "zb.kl(zb.generate('gaussian', 'complete', d=12, seed=1), features='degree:2', greedy=500)",
        f"zb.marginal_intervals(zb.generate(**{INTERVALS!r}))",
        "while True: zb.bound(zb.generate('gaussian', 'complete', d=5, seed=1), 'quantum')",
    ],
)
def test_ctrl_c_ends_a_long_call(code):
    interrupt(code)


def test_ctrl_c_leaves_the_interpreter_usable():
    timer = threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        zb.exact(zb.generate(**HARD))
    assert zb.exact(zb.generate("gaussian", "complete", d=4, seed=1)).log_z.upper > 0


def test_the_interpreter_runs_other_threads_meanwhile():
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.01)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        with pytest.raises(zb.StoppedError):
            zb.exact(zb.generate(**HARD), time_limit=0.5)
    finally:
        done.set()
        thread.join()
    assert len(ticks) > 10


@pytest.mark.parametrize("limit", [0.0, 0.05, 0.3])
def test_a_time_limit_still_gives_a_certified_bound(limit):
    model = zb.generate("logdet-mixed", "complete", d=200, w=0.1, seed=1)
    start = time.monotonic()
    solution = zb.bound(model, "quantum", tol=1e-15, time_limit=limit)
    assert time.monotonic() - start < HANGS
    assert solution.certified and solution.status in ("time-limit", "stalled", "converged")


def test_progress_is_reported_and_can_stop():
    seen = []
    model = zb.generate("logdet-mixed", "grid", d=49, w=0.1, seed=1)
    zb.bound(model, ["quantum", "trw"], progress=seen.append)
    assert {p.method for p in seen} >= {"quantum", "trw"} and isinstance(seen[0], zb.Progress)
    small = zb.generate("gaussian", "complete", d=6, seed=1)
    for job in [model, small]:
        stopped = zb.bound(job, "quantum", tol=1e-15, progress=lambda p: p.iteration < 1)
        assert stopped.status in ("cancelled", "stalled", "converged")
    with pytest.raises(zb.StoppedError):
        zb.exact(zb.generate(**HARD), progress=lambda p: False)


def test_a_divergence_is_watched_like_everything_else():
    model = zb.generate("gaussian", "complete", d=10, seed=1)
    seen = []
    whole = zb.kl(model, greedy=3, progress=seen.append)
    assert whole.reason is None and len(whole.steps) == 3 and seen[0].iteration == 0
    start = time.monotonic()
    short = zb.kl(model, features="degree:2", greedy=10_000, time_limit=0.3)
    assert time.monotonic() - start < HANGS and "time-limit" in short.reason
    assert 0.0 <= short.kl_lower <= short.kl and len(short.features) == 56 + len(short.steps)
    stopped = zb.kl(model, features="degree:2", greedy=10_000, progress=lambda p: p.iteration < 1)
    assert "cancelled" in stopped.reason and 1 <= len(stopped.steps) < 100
    with pytest.raises(zb.StoppedError):
        zb.kl(model, time_limit=0.0)
    with pytest.raises(LookupError):
        zb.kl(model, greedy=3, progress=lambda p: {}["missing"])


@pytest.mark.parametrize("d", [6, 60])
def test_an_exception_in_the_callback_comes_out(d):
    def fail(progress):
        raise LookupError("from the callback")

    with pytest.raises(LookupError, match="from the callback"):
        zb.bound(zb.generate("logdet-mixed", "complete", d=d, w=0.1, seed=1), "quantum", progress=fail)


@pytest.mark.parametrize("is_long", [False, True])
def test_no_panic_escapes(is_long):
    from zbound import _zbound

    with pytest.raises(zb.InternalError, match="asked for.*report"):
        _zbound._panic(is_long)
    assert issubclass(zb.InternalError, Exception)


def test_progress_true_shows_a_bar(capsys):
    zb.bound(zb.generate("gaussian", "complete", d=6, seed=1), "quantum", progress=True)
    assert capsys.readouterr().out == ""


def test_threads_of_one_process_agree():
    models = [zb.generate("gaussian", "complete", d=8, seed=seed) for seed in range(16)]
    serial = [zb.bound(model, "quantum").log_z for model in models]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda m: zb.bound(m, "quantum").log_z, models)) == serial


def test_the_answer_does_not_depend_on_the_number_of_threads():
    model = zb.generate("gaussian", "complete", d=18, seed=3)
    assert zb.exact(model, threads=2).log_z == zb.exact(model).log_z
    assert zb.bound(model, "quantum", threads=2).log_z.upper >= zb.exact(model).log_z.lower


FORK = """
import multiprocessing, sys, zbound as zb

def child(threads):
    model = zb.generate("logdet-mixed", "complete", d=70, w=0.1, seed=1)
    return zb.bound(model, "quantum", threads=threads).log_z

here = child({threads})
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map_async(child, [{threads}] * 2).get(timeout=60) == [here, here]
"""


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.parametrize("threads", [1, 2])
def test_a_fork_after_a_solve_is_safe(threads):
    # In a process of its own: other packages in this one may not be safe to fork.
    script = FORK.format(threads=threads)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr


def test_processes_give_the_same_results():
    model = zb.generate("gaussian", "complete", d=6, seed=1)
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        solution = pool.submit(zb.bound, model, "quantum").result(timeout=60)
    assert solution.log_z == zb.bound(model, "quantum").log_z
    assert solution.certificate.verify(model).log_z.upper <= solution.log_z.upper
