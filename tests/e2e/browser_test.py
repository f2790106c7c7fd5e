#!/usr/bin/env python3
"""The memory page in headless Chromium: its script ran, everything has a place, nothing complains.

Usage: browser_test.py CAIRN ROOT.
"""
import hashlib
import html.parser
import json
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

CAIRN, ROOT = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
problems = []
# Appended to a copy of the page: measures in the browser and leaves what it found in attributes.
PROBE = """<script>
const root = document.documentElement, box = e => e.getBoundingClientRect();
const empty = s => [...document.querySelectorAll(s)].filter(e => !(box(e).width > 0 && box(e).height > 0)).length;
root.dataset.emptyNodes = empty('.node'); root.dataset.emptyProposals = empty('.proposal'); root.dataset.emptyTables = empty('table');
root.dataset.outside = [...document.querySelectorAll('#graph .node, #tree .proposal')].filter(e => {
  const a = box(e), b = box(e.closest('svg')); return a.left < b.left || a.right > b.right || a.top < b.top || a.bottom > b.bottom; }).length;
const boxes = [...document.querySelectorAll('#graph .node')].map(box);
root.dataset.overlaps = boxes.filter((a, i) => boxes.some((b, j) => i < j &&
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length;
// Texts that come nearer than 6 units to the border of their node, or than 2 to another text of their line.
const texts = n => [...n.querySelectorAll('text')].map(t => t.getBBox()).filter(b => b.width > 0);
root.dataset.tight = [...document.querySelectorAll('#graph .node')].filter(n => {
  const a = n.querySelector('.box, circle').getBBox(), all = texts(n);
  return all.some(b => b.x < a.x + 6 || b.x + b.width > a.x + a.width - 6 || b.y < a.y || b.y + b.height > a.y + a.height) ||
    all.some((b, i) => all.some((c, j) => i !== j && Math.abs(b.y + b.height - c.y - c.height) < 5 && b.x <= c.x && b.x + b.width + 2 > c.x)); }).length;
root.dataset.boxes = document.querySelectorAll('#graph .box').length;
root.dataset.ticks = [...document.querySelectorAll('#tree .grid')].map(line => {
  const label = line.nextElementSibling; return label.textContent + '@' + line.y1.baseVal.value; }).join(' ');
// Edges by the size of their credit, as a share of the largest, and whether they are grey.
const credit = e => Number(/mean credit ([-+][0-9.]+)/.exec(e.textContent)?.[1] ?? 0);
const edges = [...document.querySelectorAll('.edge')];
const largest = Math.max(...[...edges, ...document.querySelectorAll('.node > title')].map(e => Math.abs(credit(e))));
const probe = document.body.appendChild(document.createElement('i')); probe.className = 'u3'; probe.style.color = 'var(--u)';
const grey = getComputedStyle(probe).color; probe.remove();
const shown = edges.map(e => ({share: Math.abs(credit(e)) / largest, grey: getComputedStyle(e.querySelector('polygon')).fill === grey}));
root.dataset.small = shown.filter(e => e.share > 0.03 && e.share < 0.15).length;
root.dataset.pale = shown.filter(e => e.share > 0.03 && e.grey).length;
root.dataset.loud = shown.filter(e => e.share < 0.02 && !e.grey).length;
const start = document.querySelector('[data-node=START]');
if (start) { start.dispatchEvent(new Event('pointerenter')); root.dataset.lit = document.querySelectorAll('.edge.on').length;
  start.dispatchEvent(new Event('pointerleave')); root.dataset.left = document.querySelectorAll('.lit').length; }
</script>"""


def expect(condition, what):
    if not condition:
        problems.append(what)


def run(*words):
    done = subprocess.run([CAIRN, *map(str, words)], capture_output=True, text=True, timeout=300, check=False,
                          env={**os.environ, "CAIRN_TARGET": "described", "CAIRN_PROGRESS": "off"})
    expect(done.returncode in (0, 5), f"{words}: exit {done.returncode}: {done.stderr}")


def browse(scratch, page, *words):
    done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr", "--v=0",
                           f"--user-data-dir={scratch}/profile", "--window-size=1240,2400", *words, page.as_uri()],
                          capture_output=True, text=True, timeout=180, check=False, env={**os.environ, "HOME": scratch})
    expect(done.returncode == 0, f"{page.name}: the browser exits {done.returncode}: {done.stderr[-500:]}")
    for line in done.stderr.split("\n"):
        expect("CONSOLE" not in line, f"{page.name}: {line}")
    return done.stdout


class Root(html.parser.HTMLParser):
    found = None

    def handle_starttag(self, tag, attributes):
        if tag == "html":
            self.found = dict(attributes)


def attributes_of(text):
    parser = Root()
    parser.feed(text)
    return parser.found or {}


def colours(path):
    """How many distinct rows of pixels a PNG has; a blank page has one."""
    data, packed, at = path.read_bytes(), b"", 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack(">IIBB", data[at + 8:at + 18])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    row = 1 + width * (4 if colour == 6 else 3)
    plain = zlib.decompress(packed)
    return len({plain[k * row:(k + 1) * row] for k in range(height)})


def check_ticks(name, text):
    """The ticks of the tree's axis are 1, 2 or 5 times a power of ten, or equal round steps, and stand where their logarithms do."""
    ticks = [(float(value[:-1]), float(y)) for value, y in (tick.split("@") for tick in text.split())]
    values = [value for value, _ in ticks]
    steps = {round(b - a, 6) for a, b in zip(values, values[1:])}
    expect(len(ticks) >= 2 and 1 in values, f"{name}: ticks {values}: found fewer than two, or not 1")
    expect(all(is_round(v) for v in values) or len(steps) == 1 and is_round(steps.pop()), f"{name}: ticks {values} are not round")
    if len(ticks) < 2:
        return
    (low, bottom), (high, top) = ticks[0], ticks[-1]
    for value, y in ticks:
        share = math.log(value / low) / math.log(high / low)
        expect(abs(bottom + share * (top - bottom) - y) < 0.3, f"{name}: the tick {value}x stands at {y}, not where its logarithm does")


def is_round(value):
    return f"{value:.5e}"[:7] in ("1.00000", "2.00000", "5.00000")


def wide_memory(sample, path):
    """The sample with names as wide as they come and counts of five digits."""
    lines = []
    for line in sample.read_text(encoding="utf-8").split("\n"):
        row = json.loads(line.replace("data_reuse", "WWMM_WWMM_WWMM_WWMM_") or "null")
        lines.append(json.dumps(row))
        if row and row.get("row") == "evidence" and row["direction"].startswith("WWMM"):
            for k in range(1000, 2000):
                name = f"{row['run']} {row['number']} {k}"
                lines.append(json.dumps({**row, "number": 1000 * row["number"] + k, "id": hashlib.md5(name.encode()).hexdigest()}))
    path.write_text("\n".join(line for line in lines if line != "null") + "\n", encoding="utf-8")


def check_page(scratch, page, edges, proposals):
    text = page.read_text(encoding="utf-8")
    probed = page.with_suffix(".probe.html")
    probed.write_text(text.replace("</body>", PROBE + "</body>"), encoding="utf-8")
    found = attributes_of(browse(scratch, probed, "--dump-dom"))
    expect(found.get("data-ready") == "yes", f"{page.name}: the script did not run: {found}")
    for key in ("data-empty-nodes", "data-empty-proposals", "data-empty-tables", "data-outside", "data-overlaps", "data-left", "data-tight",
                "data-pale", "data-loud"):
        expect(found.get(key) == "0", f"{page.name}: {key} is {found.get(key)}, expected 0")
    expect(int(found.get("data-boxes", 0)) >= 8, f"{page.name}: {found.get('data-boxes')} boxes")
    expect(not edges or int(found.get("data-small", 0)) > 0, f"{page.name}: no edge of small credit, which a linear scale would leave grey")
    if proposals:
        check_ticks(page.name, found.get("data-ticks", ""))
    lit = len(re.findall(r'<g class="edge [^>]*(?:data-from|data-to)="START"', text))
    expect(found.get("data-lit") == str(lit), f"{page.name}: START lights {found.get('data-lit')} edges, expected {lit}")
    expect((lit > 0) == edges, f"{page.name}: {lit} edges at START")
    expect(text.count('<g class="proposal') == proposals, f"{page.name}: {text.count('<g class=proposal')} proposals, expected {proposals}")
    picture = page.with_suffix(".png")
    browse(scratch, page, f"--screenshot={picture}")
    expect(picture.exists() and colours(picture) > 100, f"{page.name}: the screenshot is blank")


def main():
    if not BROWSER:
        print("no chromium; scripts/setup installs it")
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        place = pathlib.Path(scratch)
        memory, full, bare = place / "m.db", place / "full.html", place / "bare.html"
        run("search", ROOT / "tests/leir/ok/steptp_02_softmax.leir", "--budget", "3evals", "--proposer", "memory", "--memory", memory, "--out", place / "run",
            "--cache", place / "cache")
        run("memory", "import", ROOT / "docs/formats/memory-sample.jsonl", "--memory", memory)
        run("memory", "report", "--memory", memory, "--run", place / "run", "-o", full)
        check_page(scratch, full, True, sum('"n":' in line for line in (place / "run/journal.jsonl").read_text().split("\n")))
        wide, rows = place / "wide.html", place / "wide.jsonl"
        wide_memory(ROOT / "docs/formats/memory-sample.jsonl", rows)
        run("memory", "import", rows, "--memory", place / "wide.db")
        run("memory", "report", "--memory", place / "wide.db", "-o", wide)
        check_page(scratch, wide, True, 0)
        # A memory whose evidence is gone, and a run that was killed before anything was committed.
        run("memory", "prune", "--older-than", "0h", "--memory", memory)
        journal = place / "killed.jsonl"
        journal.write_text((place / "run/journal.jsonl").read_text().split("\n")[0] + '\n{"n":0,"par')
        run("memory", "report", "--memory", memory, "--run", journal, "-o", bare)
        check_page(scratch, bare, False, 0)
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
