"""The guide: Sphinx with MyST. `scripts/guide.sh` builds it."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

project = "zbound"
author = "The zbound developers"
copyright = "The zbound developers, MIT OR Apache-2.0"
release = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M).group(1)

extensions = ["myst_nb", "sphinx_copybutton"]
exclude_patterns = ["measured.md", "requirements.txt"]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
# Notebooks are stored with their outputs; the tests run them, `scripts/guide.sh --execute` stores them anew.
nb_execution_mode = "off"
nb_merge_streams = True

html_theme = "furo"
html_title = "zbound"
html_static_path = ["_static"]
html_css_files = ["guide.css"]
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "native"
# Commands are copied, prompts and output are not.
copybutton_prompt_text = r"\$ |> "
copybutton_prompt_is_regexp = True
