#!/usr/bin/env python3
"""What is reported is measured at the end, also where every result of the search came from the cache: usage remeasure_test.py CAIRN PROGRAM."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

CAIRN, PROGRAM = sys.argv[1:3]
problems = []


def expect(condition, what):
    if not condition:
        problems.append(what)


def search(scratch, out):
    command = [CAIRN, "search", PROGRAM, "--target", "described", "--cache", f"{scratch}/cache", "--progress", "off", "--seed", "3",
               "--budget", "6evals", "--out", f"{scratch}/{out}", "--json=lines"]
    environment = dict(os.environ, XDG_CACHE_HOME=f"{scratch}/home", XDG_DATA_HOME=f"{scratch}/data")
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    expect(done.returncode in (0, 5), f"{out}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def scale_cached_times(results, factor):
    for path in results.glob("*/*.json"):
        result = json.loads(path.read_text())
        if "time" not in result:
            continue
        for key in ("median", "q25", "q75", "lo", "hi"):
            result["time"][key] *= factor
        path.write_text(json.dumps(result))


with tempfile.TemporaryDirectory() as scratch:
    results = pathlib.Path(scratch, "cache", "results")
    first = search(scratch, "first")
    for factor in (1e4, 1e-8):   # the second of what the first left
        scale_cached_times(results, factor)
        false = search(scratch, f"times{factor:g}")
        records = [json.loads(line) for line in pathlib.Path(scratch, f"times{factor:g}", "journal.jsonl").read_text().splitlines()]
        expect(all(r["cached"] for r in records if "n" in r), f"{factor:g}: not every result came from the cache")
        in_search = false["curve"][0]["seconds"]
        expect(not 0.01 < in_search / first["naive_seconds"] < 100, f"{factor:g}: the search saw {in_search} s, expected a false time")
        for key in ("naive_seconds", "best_seconds"):
            expect(0.01 < false[key] / first[key] < 100, f"{factor:g}: {key} is {false[key]}, {first[key]} at first: it was not measured again")
for problem in problems:
    print(problem)
print(f"{len(problems)} problems")
sys.exit(1 if problems else 0)
