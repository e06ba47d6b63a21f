"""A short round of the fuzzing: a few hundred hostile files, another choice every day."""

from __future__ import annotations

import random
import sys
from typing import Any

import pytest

from robgui.core.errors import ModelError
from tests.fuzz.files import hostile
from tests.fuzz.kinds import every_kind
from tests.fuzz.kinds.kind import Kind, place
from tests.fuzz.outcome import End, of_error
from tests.fuzz.rounds import fuzz

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and clocks are of Linux")
#: Files of each kind; those that take long are fewer.
FILES = {"operation": 60, "script": 30, "workspace": 20}
#: The same files every time; ``packaging/dev.py fuzz`` tries others.
SEED = 739_937
SOME = 40
#: A model, a table and a workspace in every run of the tests; all kinds with ``dev.py test --all``.
USUAL = ("onnx", "table", "workspace")


def kinds() -> list[Any]:
    """Every kind of file; the unusual ones are slow tests, each with a process of its own."""
    marks = {True: (), False: (pytest.mark.slow,)}
    return [pytest.param(name, marks=marks[name in USUAL]) for name in every_kind(1)]


@pytest.mark.parametrize("name", kinds())
def test_a_hostile_file_is_refused_by_a_sentence_or_loaded(tmp_path, name):
    files = FILES.get(name, SOME)
    kind = every_kind(files)[name]
    honest = tmp_path / "honest" / name
    honest.mkdir(parents=True)
    kind.make(honest)
    tally = fuzz(kind, honest, SEED, range(files), tmp_path / "faults")
    told = [(path / "case.json").read_text(encoding="utf-8") for path in tally.faults]
    assert tally.is_clean, told
    assert sum(tally.ends.values()) == files and tally.ends[End.REFUSED] > 0, tally
    assert name not in USUAL or tally.ends[End.LOADED] > 0, "the limits refuse everything"


@pytest.mark.slow  # that some load is said by the hostile files of the usual kinds too
@pytest.mark.parametrize("name", [name for name in every_kind(1) if name != "operation"])
def test_most_honest_files_open_within_the_same_limits(tmp_path, monkeypatch, name):
    """Otherwise a round would only show that everything is refused."""
    kind = every_kind(1)[name]
    honest = tmp_path / "honest" / name
    honest.mkdir(parents=True)
    kind.make(honest)
    plant = tmp_path / "child.py"
    plant.write_text(_HONEST, encoding="utf-8")
    monkeypatch.setattr("tests.fuzz.rounds.CHILD", str(plant))
    files = sum(path.is_dir() for path in honest.iterdir())
    tally = fuzz(kind, honest, 0, range(files), tmp_path / "faults")
    assert tally.is_clean and tally.ends[End.LOADED] >= 0.5 * files, tally


#: A child that spoils nothing.
_HONEST = """
import dataclasses, sys
from tests.fuzz import child, kinds

every = kinds.every_kind

def unspoiled(files):
    return {
        name: dataclasses.replace(kind, spoil=lambda content, dice, seed: content)
        for name, kind in every(files).items()
    }

kinds.every_kind = unspoiled
child.main(sys.argv[1:])
"""


def test_the_same_number_makes_the_same_file(tmp_path):
    kind = every_kind(1)["table"]
    kind.make(tmp_path / "honest")
    one = hostile(kind, tmp_path / "honest", 3, 7, tmp_path / "one").read_bytes()
    assert hostile(kind, tmp_path / "honest", 3, 7, tmp_path / "two").read_bytes() == one
    others = {
        hostile(kind, tmp_path / "honest", 4, number, tmp_path / str(number)).read_bytes()
        for number in range(20)
    }
    assert len(others) > 10


_BAD = {
    "a foreign exception": ("raise KeyError('x')", End.FOREIGN),
    "a signal": ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", End.SIGNAL),
    "memory": ("b = bytearray(3 * 2**30)", End.MEMORY),
    "a loop": ("while True: pass", End.TIME),
    "an exit": ("import os; os._exit(3)", End.FOREIGN),
}


@pytest.mark.slow  # the harness changes rarely; each takes processes and seconds of waiting
@pytest.mark.parametrize("bad", _BAD)
def test_the_harness_sees_what_must_not_happen(tmp_path, monkeypatch, bad):
    """A kind whose opener does what must not happen, once in three files."""
    code, expected = _BAD[bad]
    (tmp_path / "sitecustomize.py").write_text(_PLANT.format(code=code), encoding="utf-8")
    monkeypatch.setattr("tests.fuzz.rounds.SECONDS", 3.0)
    monkeypatch.setattr("tests.fuzz.rounds.CHILD", str(tmp_path / "sitecustomize.py"))
    kind = every_kind(1)["names"]
    kind.make(tmp_path / "honest")
    tally = fuzz(kind, tmp_path / "honest", 0, range(3), tmp_path / "faults")
    assert tally.ends[expected] == 1 and sum(tally.ends.values()) == 3, tally
    assert not tally.is_clean and len(list((tmp_path / "faults").iterdir())) == 1


#: The child of these tests: opens as always, but for the second file.
_PLANT = """
import sys
from tests.fuzz import child
from tests.fuzz.kinds import data

def planted(path, dice):
    if path.parent.name == "1":
        {code}

data.read_class_names = planted
child.main(sys.argv[1:])
"""


def test_a_lack_of_memory_that_became_a_sentence_is_seen():
    sentence = ModelError("x needs more memory than there is.")
    sentence.__cause__ = MemoryError()
    assert of_error(sentence, 0).end is End.MEMORY


def test_more_than_one_line_is_no_sentence():
    assert of_error(ModelError("one\ntwo"), 0).end is End.SPEECH
    assert of_error(ModelError("one"), 0).end is End.REFUSED


def test_every_kind_spoils_what_it_makes(tmp_path):
    def make(folder):
        place(folder, "a", ".bin").write_bytes(bytes(64))

    def spoil(content: bytes, dice: random.Random, seed: str) -> bytes:
        return bytes([dice.randrange(1, 256)]) + content[1:]

    kind = Kind("x", 1, make, spoil, lambda path, dice: None, lambda: None)
    kind.make(tmp_path / "honest")
    assert hostile(kind, tmp_path / "honest", 0, 0, tmp_path / "c").read_bytes()[0] != 0
