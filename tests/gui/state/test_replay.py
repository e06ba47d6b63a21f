"""Replay compares findings to the last bit and says what differs."""

from __future__ import annotations

import numpy as np

from robgui.core.finding import Finding, StoredFinding
from robgui.gui.state.replay import counterparts, differences, outcome

IMAGE = np.zeros((1, 2, 2), np.float32)


def stored(number, title="a", severity=0.5, values=None):
    return StoredFinding("trap", title, severity, input=values, id=number, run_id="r")


def test_equal_findings_have_no_differences():
    assert differences(stored(1, values=IMAGE), Finding("trap", "a", 0.5, input=IMAGE.copy())) == []


def test_severity_and_input_are_compared_exactly():
    nearly = np.nextafter(IMAGE, 1, dtype=np.float32)
    assert differences(stored(1, values=IMAGE), Finding("trap", "a", 0.25, input=nearly)) == [
        "severity 0.25 instead of 0.5",
        "another input",
    ]
    assert differences(stored(1, values=IMAGE), Finding("trap", "a", 0.5)) == [
        "an input that the other has not"
    ]


def test_each_finding_of_the_replay_is_the_counterpart_of_one_only():
    before = [stored(1), stored(2), stored(3, title="b")]
    after = [Finding("trap", "a", 0.5), Finding("trap", "c", 0.5)]
    assert [other is not None for _, other in counterparts(before, after)] == [True, False, False]


def test_the_sentence_says_what_came_out():
    assert "to the last bit" in outcome(stored(1), Finding("trap", "a", 0.5))
    assert "but with severity 0.4 instead of 0.5" in outcome(stored(1), Finding("trap", "a", 0.4))
    assert outcome(stored(1), None) == "“a” did not come out again."
