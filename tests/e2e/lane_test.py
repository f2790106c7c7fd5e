#!/usr/bin/env python3
"""Searches on one machine measure one at a time: usage lane_test.py CAIRN PROGRAM."""
import fcntl
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

CAIRN, PROGRAM = sys.argv[1:3]
WAITING = "waiting: another process measures on this device"
problems = []


def expect(condition, what):
    if not condition:
        problems.append(what)


def start(scratch, seed, progress="lines"):
    # Caches of their own: the lane is the machine's, not the cache's.
    command = [CAIRN, "search", PROGRAM, "--target", "described", "--cache", f"{scratch}/cache{seed}", "--progress", progress,
               "--seed", str(seed), "--budget", "6evals"]
    environment = dict(os.environ, XDG_CACHE_HOME=f"{scratch}/home", XDG_DATA_HOME=f"{scratch}/data")
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def read_until(child, text):
    for line in child.stderr:
        if text in line:
            return True
    return False


with tempfile.TemporaryDirectory() as scratch:
    both = [start(scratch, 1), start(scratch, 2)]
    for child in both:
        _, messages = child.communicate(timeout=300)
        expect(child.returncode in (0, 5), f"one of two searches: exit {child.returncode}: {messages}")
    lanes = list(pathlib.Path(scratch, "home", "cairn", "lanes").glob("*.lane"))
    expect(len(lanes) == 1, f"found lanes {lanes}, expected one for both caches")
    if len(lanes) == 1:
        with open(lanes[0], encoding="utf-8") as lane:
            fcntl.flock(lane, fcntl.LOCK_EX)
            child = start(scratch, 3)
            expect(read_until(child, WAITING), "a search that waits does not say so")
            child.send_signal(signal.SIGINT)
            _, messages = child.communicate(timeout=60)
            expect(child.returncode == 130, f"interrupted while it waited: exit {child.returncode}: {messages}")
            child = start(scratch, 4)
            expect(read_until(child, WAITING), "a search that waits does not say so")
            expect(child.poll() is None, "a search went on though the lane is taken")
            fcntl.flock(lane, fcntl.LOCK_UN)
            _, messages = child.communicate(timeout=300)
            expect(child.returncode in (0, 5), f"after the wait: exit {child.returncode}: {messages}")
    # A place where no lock can be made: said once, and measured all the same.
    pathlib.Path(scratch, "home2").mkdir()
    pathlib.Path(scratch, "home2", "cairn").write_text("a file")
    environment = dict(os.environ, XDG_CACHE_HOME=f"{scratch}/home2", XDG_DATA_HOME=f"{scratch}/data")
    done = subprocess.run([CAIRN, "search", PROGRAM, "--target", "described", "--cache", f"{scratch}/cache5", "--progress", "off",
                           "--budget", "3evals"], capture_output=True, text=True, env=environment, timeout=300, check=False)
    expect(done.returncode in (0, 5), f"without a lock: exit {done.returncode}: {done.stderr}")
    expect(done.stderr.count("other processes may measure at the same time") == 1, f"without a lock: {done.stderr}")
for problem in problems:
    print(problem)
print(f"{len(problems)} problems")
sys.exit(1 if problems else 0)
