#!/usr/bin/env python3
"""Repository rules: file sizes, module layers, fences of third-party headers, strategies' tables.

Prints each violation as `file:line: what` and exits 1 if there is one. Standard library only.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAX_LINES = 400
MAX_COLUMNS = 160
NARROW = {"analysis", "base", "cli", "eval", "ir", "lower", "memory", "ops", "report", "search", "verify"}  # modules without a longer line; more join as they get there

# module -> modules of ours it may include (architecture.md); base is always allowed.
LAYERS = {
    "base": set(),
    "ir": set(),
    "analysis": {"ir"},
    "verify": {"ir", "analysis"},
    "ops": {"ir", "analysis"},
    "lower": {"ir", "analysis"},
    "strategy": {"ir", "analysis", "verify"},  # verify: Exactness and side conditions of a step
    "eval": {"ir", "analysis", "lower", "verify"},
    "search": {"ir", "analysis", "verify", "strategy", "eval"},
    "memory": {"ir", "strategy", "search"},
    "report": set(),
}
# third-party header -> the only places that may include it.
FENCES = {
    r"nlohmann/": {"src/base/json.h"},
    r"xxhash\.h": {"src/base/hash.cpp"},
    r"isl/": {"src/analysis/"},
    r"sqlite3\.h": {"src/memory/store", "src/eval/cache"},
    r"CLI/": {"src/cli/"},
    r"curl/": {"src/llm/client"},
    r"z3(\+\+)?\.h": {"src/verify/"},
}
BANNED = {r"<regex>", r"<iostream>", r"<format>", r"<expected>"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def tracked():
    out = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                         capture_output=True, check=True).stdout.decode()
    return [p for p in out.split("\0") if p and (ROOT / p).is_file()]


def check_file(path, problems):
    text = (ROOT / path).read_text(encoding="utf-8", errors="replace")
    lines = text.split("\n")
    if len(lines) > MAX_LINES + 1:
        problems.append(f"{path}:{len(lines)}: file has {len(lines)} lines, at most {MAX_LINES} are allowed")
    if not path.endswith((".cpp", ".h", ".inc")):
        return
    parts = path.split("/")
    module = parts[1] if parts[0] == "src" else None
    for number, line in enumerate(lines, 1):
        if module in NARROW and len(line) > MAX_COLUMNS:
            problems.append(f"{path}:{number}: line has {len(line)} columns, at most {MAX_COLUMNS} are allowed")
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match.group(1)
        if module and f"<{header}>" in BANNED:
            problems.append(f"{path}:{number}: <{header}> is not used in the core")
        for pattern, places in FENCES.items():
            if module and re.match(pattern, header) and not any(path.startswith(p) for p in places):
                problems.append(f"{path}:{number}: {header} belongs to {', '.join(sorted(places))} only")
        if module in LAYERS:
            other = header.split("/")[0] if "/" in header else ""  # <memory> is no module
            if other != module and other in LAYERS and other != "base" and other not in LAYERS[module]:
                problems.append(f"{path}:{number}: module {module} may not include {header}")


def check_strategies(problems):
    table = ROOT / "src/strategy/strategies.def"
    names = re.findall(r"^\s*[A-Z_]+\(\s*(\w+)", table.read_text(), re.M) if table.exists() else []
    sources = {p.stem for p in (ROOT / "src/strategy").glob("*/*.cpp")
               if re.search(r"^(extern )?const Strategy ", p.read_text(), re.M)}
    for name in names:
        for suffix in (".cpp", ".md"):
            if not list((ROOT / "src/strategy").glob(f"*/{name}{suffix}")):
                problems.append(f"src/strategy/strategies.def:1: strategy {name} has no {name}{suffix}")
    for name in sorted(sources - set(names)):
        problems.append(f"src/strategy/strategies.def:1: {name}.cpp defines a strategy that the table lacks")


def main():
    problems = []
    suffixes = (".cpp", ".h", ".inc", ".py", ".sh", ".cmake")
    for path in tracked():
        is_script = path.startswith(("scripts/", ".ci/")) or path == "bench/callgrind_gate"
        if path.endswith(suffixes) or is_script:
            check_file(path, problems)
    check_strategies(problems)
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
