"""Every attack of the review, carried out against this program: none succeeds.

``python -m tests.security.points FOLDER`` carries the same attacks out against another checkout;
README.md beside this file has what the first edition answered.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.security.points import attacks
from tests.security.points.running import Attack, carry_out, environment_of
from tests.security.warm import Warm

ROOT = Path(__file__).parents[2]
ALL = attacks()
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pipes, devices and limits")


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    """An interpreter that has imported the program, for attacks in processes of their own."""
    folder = tmp_path_factory.mktemp("warm")
    modules = ("torch", "robgui.core.loading", "robgui.core.dataset", "robgui.core.workspace")
    made = Warm(modules, environment_of(ROOT, folder))
    yield made
    made.close()


@pytest.mark.parametrize("attack", ALL, ids=[f"{each.point}: {each.name}" for each in ALL])
def test_the_attack_does_not_succeed(tmp_path: Path, attack: Attack, warm: Warm):
    answer = carry_out(attack, ROOT, tmp_path, warm)
    assert answer.startswith("held"), answer
    assert not (tmp_path / "mark").exists()


def test_every_point_of_the_review_has_an_attack():
    assert {attack.point for attack in ALL} == set(range(1, 25))


def test_the_table_names_every_attack():
    table = (Path(__file__).with_name("README.md")).read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| (\d+) \| ([^|]+?) \|", table, re.MULTILINE))
    assert rows == {(str(attack.point), attack.name) for attack in ALL}
    for name in re.findall(r"`((?:\.\./)?[\w/]+\.py)`", table):
        assert (Path(__file__).parent / name).is_file(), name


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("mark.touch(); judge()", "broken: the payload ran"),
        ("os.kill(os.getpid(), 11)", "broken: SIGSEGV"),
        ("time.sleep(60)", "broken: it hangs"),
        ("pass", "no answer"),
        ("1 / 0", "no answer: ZeroDivisionError"),
    ],
)
@pytest.mark.parametrize("start", ["cold", "warm"])
def test_the_harness_sees_how_an_attack_ends(tmp_path: Path, warm: Warm, code, answer, start):
    attack = Attack(0, "", lambda folder: None, code, seconds=0.5 if "sleep" in code else 60)
    told = carry_out(attack, ROOT, tmp_path, warm if start == "warm" else None)
    assert told.startswith(answer)
