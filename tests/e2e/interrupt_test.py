#!/usr/bin/env python3
"""A search that is interrupted, terminated or killed resumes from its journal: usage interrupt_test.py CAIRN PROGRAM."""
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

CAIRN, PROGRAM = sys.argv[1:3]
problems = []


def expect(condition, what):
    if not condition:
        problems.append(what)


def records(journal):
    return journal.read_text().count("\n") if journal.exists() else 0


def run_case(number, code, directory):
    out = pathlib.Path(directory, f"run{number}")
    journal = out / "journal.jsonl"
    command = [CAIRN, "search", PROGRAM, "--target", "described", "--out", str(out), "--cache", str(out / "cache"),
               "--progress", "off", "--seed", "3", "--budget"]
    child = subprocess.Popen(command + ["100000evals"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 120
    while records(journal) < 4 and child.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    other = subprocess.run(command + ["2evals"], capture_output=True, text=True, timeout=60, check=False)
    expect(other.returncode == 4 and "another search is writing there" in other.stderr,
           f"a second search in the directory of the first: exit {other.returncode}: {other.stderr}")
    child.send_signal(number)
    _, messages = child.communicate(timeout=60)
    name = signal.Signals(number).name
    expect(child.returncode == code, f"{name}: exit {child.returncode}, expected {code}: {messages}")
    if number != signal.SIGKILL:
        expect("run the same command again to resume" in messages, f"{name}: no line that resumes: {messages}")
    kept = records(journal)
    expect(kept >= 4, f"{name}: {kept} records kept, expected at least 4")
    before = journal.read_bytes()
    again = subprocess.run(command + [f"{kept}evals"], capture_output=True, text=True, timeout=200)
    expect(again.returncode in (0, 5), f"{name}: resumed run exits {again.returncode}: {again.stderr}")
    expect("journalled results were replayed" in again.stdout, f"{name}: nothing was replayed: {again.stdout}")
    whole = before[:before.rfind(b"\n") + 1]
    expect(journal.read_bytes().startswith(whole), f"{name}: the resumed run rewrote its journal")


with tempfile.TemporaryDirectory() as scratch:
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)):
        run_case(number, code, scratch)
for problem in problems:
    print(problem)
print(f"{len(problems)} problems")
sys.exit(1 if problems else 0)
