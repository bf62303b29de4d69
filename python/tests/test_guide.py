"""The README and the guide do what they say: their code blocks are run, page by page, and so are the notebooks.

Blocks fenced as `console` hold commands after `$ ` (continued after `> `); what stands between is output. Every command
must end with exit code 0, and a bracket on log Z that the page shows must meet the one that is proved now. Blocks fenced
as `python` share one namespace per page. Other blocks (`sh`, `json`, `rust`) are only for reading. A page runs in a
folder of its own with a copy of `examples/` in it.

A comment before a block says when it runs:
    <!-- test: full -->             only with ZBOUND_FULL=1
    <!-- test: needs scan -->       where `zbound scan --help` works
    <!-- test: needs bound --x -->  where the help of `zbound bound` knows `--x`
    <!-- test: needs module sklearn -->  where the module is installed
    <!-- test: skip -->             never
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import FULL, ROOT, need

GUIDE = ROOT / "docs" / "guide"
PAGES = [ROOT / "README.md", *sorted(p for p in GUIDE.rglob("*.md") if p.name != "measured.md")]
NOTEBOOKS = sorted((GUIDE / "notebooks").glob("*.ipynb"))
BLOCK = re.compile(r"(?:<!-- test: (?P<when>[^>]*?) -->\n)?^```(?P<kind>console|python)\n(?P<text>.*?)^```$", re.M | re.S)
BRACKET = re.compile(r"^(\S+) <= (?:eps )?log Z <= (\S+)$", re.M)
# A page that waits for something is a page that does not work.
SECONDS = 120


class Block(NamedTuple):
    kind: str
    text: str
    when: str


def blocks(page: Path) -> list[Block]:
    found = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [Block(m["kind"], m["text"], (m["when"] or "").strip()) for m in found]


def programs() -> Path | None:
    """The folder of `zbound` and `zbound-check`: $ZBOUND_BIN, the release build, or the one on the path."""
    on_path = shutil.which("zbound")
    folders = [os.environ.get("ZBOUND_BIN"), ROOT / "target" / "release", on_path and Path(on_path).parent]
    for folder in map(Path, filter(None, folders)):
        if all((folder / f"{name}{suffix}").exists() for name in ("zbound", "zbound-check") for suffix in [_EXE]):
            return folder
    return None


_EXE = ".exe" if os.name == "nt" else ""
BIN = programs()


def commands(text: str) -> list[tuple[str, str]]:
    """Every command of a block with the output shown after it."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif line.startswith("> ") and found and not found[-1][1]:
            found[-1] = (f"{found[-1][0]}\n{line[2:]}", "")
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]}{line}\n")
    return found


def environment() -> dict[str, str]:
    assert BIN is not None
    return {**os.environ, "PATH": f"{BIN.resolve()}{os.pathsep}{os.environ['PATH']}"}


def unmet(when: str) -> str | None:
    """Why a block does not run now."""
    if when in ("", "full"):
        return None if not when or FULL else "long (ZBOUND_FULL=1)"
    if when == "skip":
        return "marked so"
    wanted = when.removeprefix("needs ").split()
    if wanted[0] == "module":
        return None if importlib.util.find_spec(wanted[1]) else f"{wanted[1]} is not installed"
    if BIN is None:
        return "no zbound"
    run = subprocess.run(["zbound", wanted[0], "--help"], capture_output=True, text=True, env=environment())
    known = run.returncode == 0 and all(word in run.stdout for word in wanted[1:])
    return None if known else f"this zbound has no `{' '.join(wanted)}`"


def run_console(text: str, folder: Path) -> None:
    for command, shown in commands(text):
        run = subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, cwd=folder, env=environment(), timeout=SECONDS
        )
        assert run.returncode == 0, f"$ {command}\n{run.stdout}{run.stderr}"
        was, now = BRACKET.search(shown), BRACKET.search(run.stdout)
        if was:
            assert now, f"$ {command}\nshows a bracket and prints none:\n{run.stdout}"
            assert float(was[1]) <= float(now[2]) and float(now[1]) <= float(was[2]), f"$ {command}\n{shown}{run.stdout}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_the_code_of_the_page_runs(page: Path, folder: Path) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    if "networkx" in page.read_text(encoding="utf-8"):
        need("networkx")
    for block in blocks(page):
        if reason := unmet(block.when):
            print(f"not run, {reason}:\n{block.text}")
        elif block.kind == "python":
            exec(compile(block.text, f"{page.name} (code block)", "exec"), names)
        elif BIN is None:
            pytest.skip("no zbound and zbound-check in $ZBOUND_BIN, target/release or on the path: cargo build --release")
        else:
            run_console(block.text, folder)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda p: p.stem)
def test_the_notebook_runs(notebook: Path, folder: Path) -> None:
    need("matplotlib")
    need("pandas")
    import matplotlib.pyplot as plt

    names: dict[str, object] = {"__name__": "__main__"}
    for number, cell in enumerate(json.loads(notebook.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{notebook.name}, cell {number}", "exec"), names)
    plt.close("all")


def test_pages_are_found_and_have_code() -> None:
    assert len(PAGES) > 15 and len(NOTEBOOKS) >= 3
    assert sum(len(blocks(page)) for page in PAGES) > 30
