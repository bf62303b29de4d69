#!/usr/bin/env bash
# Makes what is published, and tries it as a stranger would.
#   scripts/package.sh            all of the below
#   scripts/package.sh crates     every publishable crate: metadata complete, packaged, contents listed (`--verify` also builds them)
#   scripts/package.sh wheel      one abi3 wheel in target/wheels, installed into a clean environment, smoke test
#   scripts/package.sh binary     static musl binaries of zbound and zbound-check in target/dist, where the target is installed
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python=$(command -v python3.11 || command -v python3 || command -v python)

crates() {
  # Every crate that is not `publish = false` says what a registry asks for.
  cargo metadata --no-deps --format-version 1 | "$python" -c '
import json, sys
bad = []
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] == []:
        continue
    wanted = ["description", "license", "repository", "readme", "keywords", "categories", "rust_version"]
    bad += [package["name"] + ": no " + field for field in wanted if not package[field]]
    print(package["name"], package["version"])
sys.exit("\n".join(bad) or 0)
'
  local names=(zbound zbound-check zbound-figures zbound-bench zbound-cli) name flags=(--no-verify)
  [ "${1:-}" = --verify ] && flags=()
  for name in "${names[@]}"; do
    # What a file needs at compile time must be inside its crate.
    if cargo package -p "$name" --list --allow-dirty | grep -q '\.\./'; then
      echo "$name: packages files from outside its folder" >&2
      return 1
    fi
  done
  local packages=()
  for name in "${names[@]}"; do packages+=(-p "$name"); done
  cargo package "${packages[@]}" --allow-dirty "${flags[@]}"
  # The figures are compiled from files of their own crate.
  tar -tzf target/package/zbound-figures-*.crate | grep -c 'experiments/.*\.toml' | grep -qx 15
}

wheel() {
  local room out=target/wheels
  rm -rf "$out"
  "$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$out" .
  ls "$out"/zbound-*-cp310-abi3-*.whl
  room=$(mktemp -d)
  # shellcheck disable=SC2064  # the folder of now
  trap "rm -rf '$room'" EXIT
  "$python" -m venv "$room/venv"
  local bin=$room/venv/bin
  [ -d "$bin" ] || bin=$room/venv/Scripts
  "$bin/python" -m pip install --quiet --disable-pip-version-check "$out"/zbound-*.whl
  # Outside the checkout, so that the installed package is the one that is tried.
  (cd "$room" && "$bin/python" - <<'END')
import zbound as zb

model = zb.generate("trw-mixed", "grid", d=16, w=0.8, seed=1)
exact, upper = zb.exact(model).log_z, zb.bound(model, "trw")
assert upper.log_z.upper >= exact.lower
upper.certificate.save("proof.zbc")
assert zb.verify(model, "proof.zbc").log_z.upper <= upper.log_z.upper
print("zbound", zb.__version__, "installed from its wheel:", zb.bound(model).log_z)
END
}

binary() {
  local target
  target=$(uname -m)-unknown-linux-musl
  if ! rustc --print target-libdir --target "$target" 2>/dev/null | xargs -r test -d; then
    echo "no static binary: the target is not installed (rustup target add $target)"
    return
  fi
  cargo build --release --target "$target" -p zbound-cli -p zbound-check
  mkdir -p target/dist
  cp "target/$target/release/zbound" "target/$target/release/zbound-check" target/dist/
  target/dist/zbound bound examples/grid36.json --certificate target/dist/smoke.zbc
  target/dist/zbound-check examples/grid36.json target/dist/smoke.zbc
}

case "${1:-all}" in
  all) crates; wheel; binary ;;
  crates) crates "${2:-}" ;;
  wheel) wheel ;;
  binary) binary ;;
  *) echo "usage: scripts/package.sh [crates [--verify] | wheel | binary]" >&2; exit 2 ;;
esac
