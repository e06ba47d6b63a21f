"""Every attack of the review, carried out against this program: none succeeds.

``python -m tests.security.points FOLDER`` carries the same attacks out against another checkout;
README.md beside this file has what the first edition answered.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.security.points import attacks
from tests.security.points.running import Attack, carry_out

ROOT = Path(__file__).parents[2]
ALL = attacks()
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pipes, devices and limits")


@pytest.mark.parametrize("attack", ALL, ids=[f"{each.point}: {each.name}" for each in ALL])
def test_the_attack_does_not_succeed(tmp_path: Path, attack: Attack):
    answer = carry_out(attack, ROOT, tmp_path)
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


def test_the_harness_sees_a_payload_that_runs(tmp_path: Path):
    evil = Attack(0, "", lambda folder: None, "mark.touch(); judge()")
    assert carry_out(evil, ROOT, tmp_path) == "broken: the payload ran"
    dead = Attack(0, "", lambda folder: None, "os.kill(os.getpid(), 11)")
    assert carry_out(dead, ROOT, tmp_path) == "broken: SIGSEGV"
    slow = Attack(0, "", lambda folder: None, "time.sleep(60)", seconds=2)
    assert carry_out(slow, ROOT, tmp_path) == "broken: it hangs"
    none = Attack(0, "", lambda folder: None, "pass")
    assert carry_out(none, ROOT, tmp_path).startswith("no answer")
