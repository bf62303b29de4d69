#!/usr/bin/env bash
# Every test of the project, Rust and Python: formatting, lints, tests, doc examples, Python package.
#   scripts/test.sh          the fast lane
#   scripts/test.sh --full   large random counts (ZBOUND_FULL=1), dependency audit, long fuzzing
# Needs Rust and Python 3; makes its own virtual environment in .venv. Ends with "N passed, N failed, N skipped".
# ZBOUND_FUZZ_SECONDS: seconds of fuzzing for each of the twelve targets (10; 600 with --full).
# target/counts.tsv: how often every promise was put to the test; scripts/reliability.py publishes it.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2

full=0
case "${1:-}" in
  --full) full=1; export ZBOUND_FULL=1 ;;
  "") ;;
  *) echo "usage: scripts/test.sh [--full]" >&2; exit 2 ;;
esac

passed=0 failed=0 skipped=0
log=$(mktemp) || exit 2
ZBOUND_SKIP_LOG=$(mktemp) || exit 2
trap 'rm -f "$log" "$ZBOUND_SKIP_LOG"' EXIT
mkdir -p target && : >target/counts.tsv
ZBOUND_COUNTS=$PWD/target/counts.tsv
export ZBOUND_SKIP_LOG ZBOUND_COUNTS

skip() { skipped=$((skipped + 1)); printf '\n*** SKIPPED: %s ***\n' "$1"; }

# Tests on public instances fail without them, unless it is said that they are not there.
data=${ZBOUND_DATA:-../shared/data}
if [ ! -d "$data" ] && [ "${ZBOUND_SKIP_DATA:-}" != 1 ]; then
  echo "no public instances at $data (name their folder in ZBOUND_DATA): tests on them are skipped"
  export ZBOUND_SKIP_DATA=1
fi

# Sums the numbers before a word ("passed", "failed", ...) in the log.
count() { grep -oE "[0-9]+ $1" "$log" | awk '{sum += $1} END {print sum + 0}'; }

# step NAME COMMAND...: one check, which passes or fails as a whole.
step() {
  local name=$1; shift
  printf '\n== %s\n' "$name"
  if "$@" </dev/null; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $name"; fi
}

# suite NAME COMMAND...: a test runner, whose own summary lines are counted.
suite() {
  local name=$1 status=0 bad; shift
  printf '\n== %s\n' "$name"
  "$@" </dev/null 2>&1 | tee "$log" || status=1
  # Only summary lines, without colour codes: nextest's, cargo's and pytest's.
  sed -i -e 's/\x1b\[[0-9;]*m//g' -e '/Summary \[\|^test result:\|^=\{0,\} *[0-9].*\(passed\|failed\|error\).* in [0-9.]*s/!d' "$log"
  # Tests that found no public instances end as passed and say in a file of their own that they were not run.
  local unrun; unrun=$(wc -l <"$ZBOUND_SKIP_LOG"); : >"$ZBOUND_SKIP_LOG"
  passed=$((passed + $(count passed) - unrun))
  skipped=$((skipped + unrun + $(count skipped)))
  bad=$(($(count failed) + $(count errors?)))
  # A runner that fails without counting a failure (a build error, a crash) is one failure.
  [ "$status" -ne 0 ] && [ "$bad" -eq 0 ] && bad=1
  failed=$((failed + bad))
  [ "$bad" -gt 0 ] && echo "FAILED: $name"
  return 0
}

rust_tests() {
  step "formatting" scripts/lint.sh format
  step "lints" scripts/lint.sh clippy
  step "documentation" env RUSTDOCFLAGS='-D warnings' cargo doc --release --no-deps --quiet
  local crates=(--workspace --exclude zbound-python --exclude zbound-fuzz)
  if cargo nextest --version >/dev/null 2>&1; then
    suite "Rust tests" cargo nextest run --release "${crates[@]}" --no-fail-fast --status-level fail
    suite "Rust doc examples" cargo test --release "${crates[@]}" --doc --no-fail-fast
  else
    suite "Rust tests and doc examples" cargo test --release "${crates[@]}" --no-fail-fast
  fi
}

python_tests() {
  if [ ! -f pyproject.toml ]; then skip "Python tests: no pyproject.toml in this checkout"; return; fi
  local python
  python=$(command -v python3.11 || command -v python3 || command -v python) || { skip "Python tests: no python3 found"; return; }
  step "links" scripts/lint.sh links
  if [ ! -d .venv ]; then step "virtual environment" "$python" -m venv .venv; fi
  local bin=.venv/bin
  [ -d "$bin" ] || bin=.venv/Scripts
  local pip=("$bin/python" -m pip install --quiet --disable-pip-version-check)
  step "Python package" "${pip[@]}" '.[test]'
  # Large packages, torch among them; tests skip what is not there.
  if [ "$full" -eq 1 ] && ! "${pip[@]}" '.[test-full]'; then
    local extra
    for extra in pgmpy torch jax dask ray mpi pygms conic; do
      "${pip[@]}" ".[$extra]" || skip "Python tests of the extra $extra: not installable"
    done
  fi
  suite "Python tests" "$bin/python" -m pytest -q python/tests
}

full_tests() {
  step "guide" scripts/guide.sh
  if cargo deny --version >/dev/null 2>&1; then
    step "dependency audit" cargo deny check
  else
    skip "dependency audit: cargo-deny is not installed"
  fi
  if command -v chromium chromium-browser google-chrome >/dev/null; then
    step "pictures of the report" scripts/screenshots.sh
  else
    skip "pictures of the report: no Chromium"
  fi
}

# Every reader and both verifiers on hostile input, an ordinary test for each; what breaks one is kept in fuzz/found.
fuzz_tests() {
  local seconds=${ZBOUND_FUZZ_SECONDS:-10}
  if [ "$full" -eq 1 ]; then
    seconds=${ZBOUND_FUZZ_SECONDS:-600}
  else
    # A run that can be repeated; the full lane draws another seed every time.
    export ZBOUND_FUZZ_SEED=${ZBOUND_FUZZ_SEED:-1}
  fi
  suite "fuzzing, $seconds s a target" \
    env ZBOUND_FUZZ_SECONDS="$seconds" cargo test --release -p zbound-fuzz --no-fail-fast
}

rust_tests
python_tests
fuzz_tests
if [ "$full" -eq 1 ]; then full_tests; fi

printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
