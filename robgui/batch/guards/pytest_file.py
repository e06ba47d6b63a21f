"""The pytest file of a guard suite: always the same text, so no foreign name gets into it."""

from __future__ import annotations

TEST_FILE = '''\
"""Findings that must not come back, and inputs that must stay right; one test for each.

    ROBGUI_MODEL=new.onnx pytest test_findings.py

suite.json beside this file says which class is right for each input, and who says so. Change this
file as you like: "robgui check" reads suite.json and the inputs, and never this file.
"""

import os
from pathlib import Path

import pytest

import robgui

SUITE = robgui.guard_suite(Path(__file__).parent)


@pytest.fixture(scope="module")
def model():
    path = os.environ.get("ROBGUI_MODEL")
    if not path:
        pytest.fail("say which model to test: ROBGUI_MODEL=new.onnx")
    return SUITE.fitted(robgui.load(path))


def answer(model, case):
    """Number of the class that the model gives to the input of a case."""
    return int(model.probs(SUITE.input_for(case, model)).argmax())


@pytest.mark.parametrize("case", SUITE.findings, ids=str)
def test_finding_is_fixed(model, case):
    assert answer(model, case) == SUITE.place_of(case.expected, model), case.title


@pytest.mark.parametrize("case", SUITE.guarded, ids=str)
def test_input_is_still_right(model, case):
    assert answer(model, case) == SUITE.place_of(case.expected, model), case.title
'''
