"""The self-test: its page on the processor and on the pretended device, and what it refuses."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from robgui.cli import main
from robgui.selftest.differences import difference
from robgui.selftest.jobs import JOBS
from robgui.selftest.page import page, passed
from robgui.selftest.proof import Proof, prove
from tests.devices.pretend.device import pretending

SHORT = [job for job in JOBS if job.analysis in ("zonnscan_populations", "pipeline_audit")]


@dataclass(frozen=True)
class _Result:
    numbers: np.ndarray
    name: str = "a"
    seconds: float = 0.0


def test_differences_leave_times_aside_and_see_everything_else():
    one = _Result(np.array([1.0, np.nan, 200.0]))
    assert difference(one, replace(one, seconds=9.0)) == 0
    assert difference(one, replace(one, numbers=np.array([1.0, np.nan, 202.0]))) == 0.01
    assert math.isinf(difference(one, replace(one, numbers=np.array([1.0, 0.0, 200.0]))))
    assert math.isinf(difference(one, replace(one, numbers=np.zeros(2))))
    assert math.isinf(difference(one, replace(one, name="b")))
    assert difference({"a": [1, 2.5]}, {"a": [1, 2.0]}) == 0.2


def test_without_a_gpu_the_page_says_what_was_proven_and_what_was_not(capsys):
    assert main(["selftest", "--device", "cpu", "--only", "zonnscan_populations"]) == 0
    told = capsys.readouterr().out
    assert "There is no GPU here. Proven: 1 of 1 analyses run whole on the processor" in told
    assert "Not proven without a GPU" in told and "same numbers" in told


def test_on_a_device_the_page_has_times_memory_and_differences():
    with pretending():
        place = torch.device("pretend:0")
        proofs = list(prove(place, SHORT))
        told = page(proofs, place)
    assert [proof.outcome for proof in proofs] == ["same numbers"] * 2
    assert all(proof.peak and proof.forward > 0 and proof.calls for proof in proofs)
    assert "2 of 2 analyses run whole on pretend:0: 2 give the processor's numbers" in told
    assert max(map(len, told.splitlines())) <= 101, "one page, to be copied"


def test_random_numbers_of_the_devices_own_give_the_same_verdict():
    job = next(job for job in JOBS if job.analysis == "last_particle_table")
    with pretending() as cards:
        cards[0].own_numbers = True
        (proof,) = prove(torch.device("pretend:0"), [job])
    assert proof.outcome == "same verdict" and proof.difference > 1e-3


def test_an_analysis_that_fails_there_is_a_row_and_a_sentence():
    with pretending() as cards:
        cards[0].cap = cards[0].live + 1000
        proofs = list(prove(torch.device("pretend:0"), SHORT[:1]))
        told = page(proofs, torch.device("pretend:0"))
    assert proofs[0].outcome == "FAILED" and "memory" in proofs[0].error
    assert proofs[0].error in told and not passed(proofs)


def test_a_difference_is_shouted_and_is_the_exit_code():
    proofs = [Proof("A", "same numbers", 0.0, 1, 1, 1, 5), Proof("B", "DIFFERS", 0.5, 1, 1, 1, 5)]
    told = page(proofs, torch.device("meta"))
    assert "DIFFERS" in told and "1 neither" in told and not passed(proofs)


@pytest.mark.parametrize("device", ["cuda:7", "nonsense"])
def test_a_device_that_is_not_there_is_one_sentence(device, capsys):
    assert main(["selftest", "--device", device]) == 2
    assert f"There is no device '{device}' here; choose one of: " in capsys.readouterr().err
