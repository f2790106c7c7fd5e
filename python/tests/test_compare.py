"""The comparison beside PyTorch: torch.compile has a limit, and what is known without it is told first."""

import json
import signal
import time

import cairn.compare as compare


class FakeTorch:
    def __init__(self, first_call):
        self.first_call = first_call

    def compile(self, model):
        def compiled(*inputs):
            self.first_call()
            return model(*inputs)

        return compiled


def test_a_compilation_without_end_is_given_up():
    before = signal.getsignal(signal.SIGALRM)
    start = time.perf_counter()
    compiled, note = compare.compile_within(FakeTorch(lambda: time.sleep(60)), lambda x: x, [1], 1)
    assert compiled is None
    assert note == "torch.compile did not finish within 1 s"
    assert time.perf_counter() - start < 20
    assert signal.getsignal(signal.SIGALRM) == before


def test_a_compilation_that_fails_says_why():
    def fail():
        raise RuntimeError("no compiler\nsecond line")

    compiled, note = compare.compile_within(FakeTorch(fail), lambda x: x, [1], 10)
    assert compiled is None
    assert note == "torch.compile did not run: no compiler"


def test_a_compilation_that_ends_is_used():
    compiled, note = compare.compile_within(FakeTorch(lambda: None), lambda x: x + 1, [1], 10)
    assert (compiled(2), note) == (3, "")
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_slow_calls_are_measured_in_fewer_rounds(monkeypatch):
    monkeypatch.setattr(compare, "MEASURE_SECONDS", 0.05)
    calls = []

    def slow():
        calls.append(1)
        time.sleep(0.1)

    assert compare.measure({"slow": slow})["slow"] >= 0.1
    assert len(calls) == 2 + 3 + 3 * 2  # warming up, choosing the block, three rounds of a first and a timed call


def test_answers_are_lines_of_json():
    line = json.dumps(compare.answer({"eager": 2.0, "ours": 1.0}, 0.5, "note"))
    assert json.loads(line) == {"eager": 2.0, "compile": 0.0, "ours": 1.0, "max_error": 0.5, "note": "note"}
