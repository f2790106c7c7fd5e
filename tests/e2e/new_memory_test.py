#!/usr/bin/env python3
"""A new memory file is there whole, with its prior, or not at all, whenever its maker is killed: usage new_memory_test.py CAIRN PROGRAM."""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

CAIRN, PROGRAM = sys.argv[1:3]
KILLS = 24
problems = []


def expect(condition, what):
    if not condition:
        problems.append(what)


def command(memory):
    return [CAIRN, "search", PROGRAM, "--target", "described", "--device", "simulated", "--progress", "off", "--budget", "1evals",
            "--memory", str(memory)]


def count_rows(memory):
    done = subprocess.run([CAIRN, "memory", "show", "--memory", str(memory), "--json"], capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"{memory.name}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)["rows"] if done.returncode == 0 else 0


def kill_while_made(memory, delay):
    """True if the maker was killed with its draft on disk and no memory yet."""
    child = subprocess.Popen(command(memory), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    draft = pathlib.Path(f"{memory}.{child.pid}")
    while child.poll() is None and not draft.exists() and not memory.exists():
        pass
    time.sleep(delay)
    child.send_signal(signal.SIGKILL)
    child.wait()
    return draft.exists() and not memory.exists()


with tempfile.TemporaryDirectory() as scratch:
    os.environ.update(XDG_CACHE_HOME=f"{scratch}/home", XDG_DATA_HOME=f"{scratch}/data")
    whole = pathlib.Path(scratch, "whole.db")
    begun = time.monotonic()
    subprocess.run(command(whole), capture_output=True, check=False)
    lasted = time.monotonic() - begun
    rows = count_rows(whole)
    expect(rows > 100, f"a new memory holds {rows} rows, expected a prior")
    draw = random.Random(1)
    in_time = 0
    for k in range(KILLS):
        memory = pathlib.Path(scratch, f"killed{k}.db")
        in_time += kill_while_made(memory, draw.random() * min(lasted, 0.1) if k % 3 else 0)
        if memory.exists():
            expect(count_rows(memory) >= rows - 1, f"{memory.name}: a part of a memory was left")
        again = subprocess.run(command(memory), capture_output=True, text=True, check=False)
        expect(again.returncode in (0, 5), f"{memory.name}: the next run: exit {again.returncode}: {again.stderr}")
        expect(count_rows(memory) >= rows, f"{memory.name}: the next run did not begin with the prior")
    expect(in_time > 0, "no maker was killed while it made the file: the test says nothing")
    # Makers at once: one file, and nobody fails.
    memory = pathlib.Path(scratch, "raced.db")
    makers = [subprocess.Popen(command(memory), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    for maker in makers:
        _, messages = maker.communicate(timeout=120)
        expect(maker.returncode in (0, 5), f"one of four makers: exit {maker.returncode}: {messages}")
    expect(count_rows(memory) >= rows, "four makers left a part of a memory")
    expect(not list(pathlib.Path(scratch).glob("raced.db.*")), "a maker that ended left its draft")
for problem in problems:
    print(problem)
print(f"{len(problems)} problems, {in_time} of {KILLS} killed while the file was made")
sys.exit(1 if problems else 0)
