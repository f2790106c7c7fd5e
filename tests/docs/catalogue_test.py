#!/usr/bin/env python3
"""docs/strategies.md and src/strategy/pairs.inc are what the workloads give, and every strategy earns its place.

Usage: catalogue_test.py CAIRN ROOT. `scripts/catalogue` writes both files. Standard library only.
"""
import difflib
import pathlib
import re
import subprocess
import sys

FEWEST_WORKLOADS = 3


def run(cairn, root, *words):
    return subprocess.run([cairn, "strategies", *words], cwd=root, capture_output=True, text=True, check=True).stdout


def compare(name, expected, found, problems):
    if expected == found:
        return
    lines = list(difflib.unified_diff(expected.splitlines(), found.splitlines(), name, "derived", lineterm="", n=0))
    problems.append(f"{name} is out of date; run scripts/catalogue\n" + "\n".join(lines[:20]))


def main():
    cairn, root = sys.argv[1], pathlib.Path(sys.argv[2])
    problems = []
    page = run(cairn, root, "--page", "bench/workloads", "--pages", "src/strategy")
    compare("docs/strategies.md", (root / "docs/strategies.md").read_text(encoding="utf-8"), page, problems)
    pairs = run(cairn, root, "--pairs", "bench/workloads")
    compare("src/strategy/pairs.inc", (root / "src/strategy/pairs.inc").read_text(encoding="utf-8"), f'R"pairs(\n{pairs})pairs"\n', problems)

    rows = re.findall(r"^\| \[(\w+)\]\(#\w+\) \|.*\| (\d+) \| \d+ \|$", page, re.M)
    for name, workloads in rows:
        if int(workloads) < FEWEST_WORKLOADS:
            problems.append(f"{name} fires on {workloads} workloads, at least {FEWEST_WORKLOADS} are wanted")
        section = page.split(f"\n## {name}\n", 1)[1].split("\n## ", 1)[0]
        for word in ("pays", "cost"):
            if word not in section:
                problems.append(f"the page of {name} does not say when it {'pays' if word == 'pays' else 'costs what'}")
    if len(rows) < 43:
        problems.append(f"{len(rows)} strategies in the table, at least 43 are wanted")
    for problem in problems:
        print(problem)
    print(f"{len(rows)} strategies, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
