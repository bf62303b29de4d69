#!/usr/bin/env python3
"""Writes the counts of a test run into docs/reliability.md.

    scripts/test.sh --full
    scripts/reliability.py target/counts.tsv

Tests append lines to the file that $ZBOUND_COUNTS names: `promise NUMBER WHAT COUNT` and `fuzz TARGET INPUTS SECONDS`, separated
by tabs. Counts of promises are those of this run. Fuzzing adds up over the runs that were published.
"""

import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reliability.md"


def block(text, name):
    """The part of the page between the marks of a generated block."""
    match = re.search(rf"(<!-- {name} -->\n)(.*?)(<!-- end {name} -->)", text, re.S)
    if match is None:
        sys.exit(f"{PAGE}: no block {name}")
    return match


def replaced(text, name, lines):
    old = block(text, name)
    return text[: old.start(2)] + "\n".join(lines) + "\n" + text[old.end(2) :]


def spaced(number):
    return f"{number:,}"


def promises(rows):
    """One line a promise and kind of case; a kind that several tests share is added up."""
    counts = {}
    for number, what, count in rows:
        key = (int(number), what)
        counts[key] = counts.get(key, 0) + int(count)
    head = ["| promise | cases of the last published run | violations |", "|---|---|---|"]
    return head + [f"| {n} | {spaced(count)} {what} | 0 |" for (n, what), count in sorted(counts.items())]


def fuzzing(rows, page):
    """Inputs and hours a target, with what the page has so far."""
    totals = {}
    for line in block(page, "fuzzing").group(2).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and re.fullmatch(r"[\d,]+", cells[1]):
            totals[cells[0]] = [int(cells[1].replace(",", "")), 3600 * float(cells[2])]
    totals.pop("all", None)
    for target, inputs, seconds in rows:
        total = totals.setdefault(target, [0, 0.0])
        total[0] += int(inputs)
        total[1] += float(seconds)
    totals["all"] = [sum(t[0] for t in totals.values()), sum(t[1] for t in totals.values())]
    head = ["| target | inputs | hours |", "|---|---|---|"]
    return head + [f"| {name} | {spaced(n)} | {seconds / 3600:.4f} |" for name, (n, seconds) in totals.items()]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    rows = [line.split("\t") for line in Path(sys.argv[1]).read_text().splitlines()]
    if not rows:
        sys.exit(f"{sys.argv[1]}: no counts")
    page = PAGE.read_text()
    page = replaced(page, "promises", promises([row[1:] for row in rows if row[0] == "promise"]))
    page = replaced(page, "fuzzing", fuzzing([row[1:] for row in rows if row[0] == "fuzz"], page))
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
