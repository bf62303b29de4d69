#!/usr/bin/env bash
# What can be said about the code without running it.
#   scripts/lint.sh                        all of it
#   scripts/lint.sh format|clippy|links    one part
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

format() { cargo fmt --check; }
clippy() { cargo clippy --release --all-targets -- -D warnings; }
# Links between the files of the project; scripts/guide.sh checks those of the built guide.
links() {
  "$(command -v python3 || command -v python)" scripts/check_links.py --markdown ./*.md docs/*.md examples/README.md
}

case "${1:-all}" in
  all) format; clippy; links ;;
  format | clippy | links) "$1" ;;
  *) echo "usage: scripts/lint.sh [format | clippy | links]" >&2; exit 2 ;;
esac
