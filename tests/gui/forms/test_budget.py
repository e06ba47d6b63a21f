"""What Run will cost, live beside the settings, and the time limits that are offered."""

from __future__ import annotations

import pytest

from robgui.core.execution.budget.cost import Calls, Estimate
from robgui.gui.forms.budget import Budget


@pytest.fixture
def budget(qtbot):
    made = Budget()
    qtbot.addWidget(made)
    made.show()
    return made


def test_the_cost_is_one_sentence_and_a_long_run_comes_with_advice(budget):
    budget.show_estimate(Estimate(Calls.exactly(820), 40, 40))
    assert budget.cost.text() == "About 40 s, 820 calls."
    budget.show_estimate(Estimate(Calls.exactly(36_000), 1800, 1800))
    assert budget.cost.text() == (
        "About 30 min, 36,000 calls. Choose a time to have an answer by then."
    )
    budget.show_estimate(None)
    assert not budget.cost.isVisible()


def test_quick_normal_and_thorough_are_offered_and_an_own_limit_is_shown_as_such(budget, qtbot):
    words = [budget.limit.itemText(i) for i in range(budget.limit.count())]
    assert words == ["No limit", "Quick, 10 s", "Normal, 1 min", "Thorough, 10 min"]
    with qtbot.waitSignal(budget.chosen) as said:
        budget.limit.activated.emit(2)
    assert said.args == [60.0]
    budget.show_limit(7.5)
    assert budget.limit.currentText() == "As set under More"
    budget.show_limit(600)
    assert budget.limit.currentText() == "Thorough, 10 min" and budget.limit.count() == 4
