#!/usr/bin/env bash
# Every test of the project, Rust and Python: formatting, lints, tests, doc examples, Python package.
#   scripts/test.sh          the fast lane
#   scripts/test.sh --full   large random counts (ZBOUND_FULL=1), dependency audit, fuzzing
# Needs Rust and Python 3; makes its own virtual environment in .venv. Ends with "N passed, N failed".
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2

full=0
case "${1:-}" in
  --full) full=1; export ZBOUND_FULL=1 ;;
  "") ;;
  *) echo "usage: scripts/test.sh [--full]" >&2; exit 2 ;;
esac

passed=0 failed=0
log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT

skip() { printf '\n*** SKIPPED: %s ***\n' "$1"; }

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
  passed=$((passed + $(count passed)))
  bad=$(($(count failed) + $(count errors?)))
  # A runner that fails without counting a failure (a build error, a crash) is one failure.
  [ "$status" -ne 0 ] && [ "$bad" -eq 0 ] && bad=1
  failed=$((failed + bad))
  [ "$bad" -gt 0 ] && echo "FAILED: $name"
  return 0
}

rust_tests() {
  step "formatting" cargo fmt --check
  step "formatting of fuzz targets" cargo fmt --check --manifest-path fuzz/Cargo.toml
  step "lints" cargo clippy --release --all-targets -- -D warnings
  if cargo nextest --version >/dev/null 2>&1; then
    suite "Rust tests" cargo nextest run --release --no-fail-fast --status-level fail
    suite "Rust doc examples" cargo test --release --doc --no-fail-fast
  else
    suite "Rust tests and doc examples" cargo test --release --no-fail-fast
  fi
}

python_tests() {
  if [ ! -f pyproject.toml ]; then skip "Python tests: no pyproject.toml in this checkout"; return; fi
  local python
  python=$(command -v python3.11 || command -v python3) || { skip "Python tests: no python3 found"; return; }
  if [ ! -x .venv/bin/python ]; then step "virtual environment" "$python" -m venv .venv; fi
  local pip=(.venv/bin/python -m pip install --quiet --disable-pip-version-check)
  step "Python package" "${pip[@]}" '.[test]'
  # Large packages, torch among them; tests skip what is not there.
  if [ "$full" -eq 1 ] && ! "${pip[@]}" '.[test-full]'; then
    local extra
    for extra in pgmpy torch jax dask ray mpi; do
      "${pip[@]}" ".[$extra]" || skip "Python tests of the extra $extra: not installable"
    done
  fi
  suite "Python tests" .venv/bin/python -m pytest -q python/tests
}

full_tests() {
  step "documentation" env RUSTDOCFLAGS='-D warnings' cargo doc --release --no-deps --quiet
  if cargo deny --version >/dev/null 2>&1; then
    step "dependency audit" cargo deny check
  else
    skip "dependency audit: cargo-deny is not installed"
  fi
}

# fuzz_tests SECONDS TARGET...: every input is hostile. There is no unsafe code for a sanitizer to watch, and without
# one any toolchain will do. The mutation tests among the Rust tests need no tools at all.
fuzz_tests() {
  local seconds=$1 target; shift
  if ! cargo fuzz --version >/dev/null 2>&1; then
    skip "fuzzing of $*: cargo-fuzz is not installed (cargo install cargo-fuzz)"; return
  fi
  step "fuzz targets" cargo fuzz build --sanitizer none
  for target in "$@"; do
    mkdir -p "fuzz/corpus/$target"
    step "fuzz $target, $seconds s" cargo fuzz run --sanitizer none "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" \
      -- -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=4096 -verbosity=0
  done
}

rust_tests
python_tests
if [ "$full" -eq 1 ]; then
  fuzz_tests 60 json uai fg coo dimod rudy qubo bq evidence certificate check_certificate check_model
else
  fuzz_tests 20 json uai coo certificate check_certificate
fi
if [ "$full" -eq 1 ]; then full_tests; fi

printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
