#!/usr/bin/env bash
# Builds the guide: docs/guide -> target/guide/index.html. Warnings are errors, and links between pages are checked.
#   scripts/guide.sh             build
#   scripts/guide.sh --execute   run the notebooks first and store their outputs (needs the Python package: pip install .)
# Makes its own virtual environment in target/guide-venv; ZBOUND_GUIDE_VENV names another one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv=${ZBOUND_GUIDE_VENV:-target/guide-venv}
if [ ! -x "$venv/bin/python" ]; then
  "$(command -v python3.11 || command -v python3)" -m venv "$venv"
fi
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r docs/guide/requirements.txt

case "${1:-}" in
  --execute)
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check nbconvert '.[plot,dataframe]'
    for notebook in docs/guide/notebooks/*.ipynb; do
      "$venv/bin/python" -m nbconvert --to notebook --execute --inplace "$notebook"
    done ;;
  "") ;;
  *) echo "usage: scripts/guide.sh [--execute]" >&2; exit 2 ;;
esac

"$venv/bin/python" -m sphinx --quiet --fail-on-warning --keep-going -b html docs/guide target/guide
"$venv/bin/python" scripts/check_links.py target/guide
scripts/lint.sh links
echo "target/guide/index.html"
