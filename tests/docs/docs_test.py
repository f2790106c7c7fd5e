#!/usr/bin/env python3
"""Fenced blocks of the documentation hold: programs check, shell lines run, JSON parses.

Usage: docs_test.py CAIRN [ROOT]. Blocks ```leir are whole programs and must verify; ```leir-fragment need only
parse; ```sh lines that start with build/cairn run in ROOT and must exit 0; ```json must parse. Standard library only.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(\S*)\s*$")


def blocks_of(path):
    """(language, first line number, text) of each fenced block."""
    language, start, lines, found = None, 0, [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        match = FENCE.match(line)
        if match and language is None:
            language, start, lines = match.group(1), number + 1, []
        elif match:
            found.append((language, start, "\n".join(lines) + "\n"))
            language = None
        elif language is not None:
            lines.append(line)
    if language is not None:
        found.append(("unclosed", start, ""))
    return found


def pages(root):
    listed = [root / "README.md", *sorted((root / "docs").rglob("*.md")), *sorted((root / "examples").rglob("*.md"))]
    return [p for p in listed if p.is_file()]


class Runner:
    def __init__(self, cairn, root, scratch):
        self.cairn, self.root = cairn, root
        self.env = {**os.environ, "CAIRN_TARGET": "described", "CAIRN_PROGRESS": "off", "XDG_CACHE_HOME": scratch,
                    "XDG_DATA_HOME": scratch}

    def run(self, words, text=None):
        done = subprocess.run([self.cairn, *words], input=text, capture_output=True, cwd=self.root, env=self.env, text=True,
                              timeout=300, check=False)
        return done.returncode, (done.stderr or done.stdout).strip()

    def problem(self, language, text):
        """Why a block does not hold, or None."""
        if language == "unclosed":
            return "the block is not closed"
        if language in ("leir", "leir-fragment"):
            # A text without declarations has no outputs to check; it must parse.
            declares = re.search(r"^\s*(in|out|io)\s+[A-Z]", text, re.M)
            command = "check" if language == "leir" and declares else "show"
            code, said = self.run([command, "-"], text)
            return said if code else None
        if language == "json":
            try:
                json.loads(text)
            except ValueError as error:
                return str(error)
        if language == "sh":
            for line in text.replace("\\\n", " ").split("\n"):
                words = shlex.split(line, comments=True)
                if words and words[0] == "build/cairn":
                    if "--out" in words[:-1]:  # a run's journal of another build would be resumed
                        out = (self.root / words[words.index("--out") + 1]).resolve()
                        if out.is_relative_to(self.root.resolve() / "build"):
                            shutil.rmtree(out, ignore_errors=True)
                    code, said = self.run(words[1:])
                    if code:
                        return f"'{line}' exits {code}: {said}"
        return None


def main():
    root = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).resolve().parents[2])
    counts, problems = {}, 0
    with tempfile.TemporaryDirectory() as scratch:
        runner = Runner(str(pathlib.Path(sys.argv[1]).resolve()), root, scratch)
        for page in pages(root):
            for language, line, text in blocks_of(page):
                counts[language] = counts.get(language, 0) + 1
                why = runner.problem(language, text)
                if why:
                    problems += 1
                    print(f"{page.relative_to(root)}:{line}: {language or 'plain'}: {why}")
    print(f"{counts} blocks, {problems} problems")
    if not counts.get("leir"):
        print("no leir blocks found: wrong root?")
        return 1
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
