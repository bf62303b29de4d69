#!/usr/bin/env python3
"""Checks that links inside the project lead somewhere; addresses on the network are not asked.

    scripts/check_links.py DIR              every .html page under DIR: files and anchors
    scripts/check_links.py --markdown FILE...   files that Markdown links and images name
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page and the anchors it offers."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("href", "src"):
                self.links.append(value)
            elif value and name in ("id", "name"):
                self.anchors.add(value)


def html(folder: Path) -> list[str]:
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                broken.append(f"{path}: {link}: no such file")
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                broken.append(f"{path}: {link}: no such place on the page")
    return broken


def markdown(files: list[Path]) -> list[str]:
    broken = []
    for path in files:
        text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
        for link in re.findall(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"", text):
            parts = urlsplit(link[0] or link[1])
            if parts.scheme or parts.netloc or not parts.path:
                continue
            if not (path.parent / unquote(parts.path)).exists():
                broken.append(f"{path}: {link[0] or link[1]}: no such file")
    return broken


def main() -> int:
    arguments = sys.argv[1:]
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    if arguments[0] == "--markdown":
        broken = markdown([Path(name) for name in arguments[1:]])
    else:
        broken = html(Path(arguments[0]))
    print("\n".join(broken), file=sys.stderr, end="\n" if broken else "")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
