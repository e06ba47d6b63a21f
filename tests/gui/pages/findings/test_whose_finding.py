"""Each finding says whose it is, and the same number of findings is named everywhere."""

from __future__ import annotations

import pytest
import torch
from PySide6.QtCore import Qt
from torch import nn

from robgui.core.execution.request import build_request
from robgui.core.finding import Finding
from robgui.core.model.classifier import Classifier
from robgui.gui.pages.findings import Findings
from robgui.gui.pages.overview import Overview


@pytest.fixture
def other(filled):
    """A second model, held by the store; the first stays in use."""
    torch.manual_seed(1)
    made = Classifier.from_module(
        nn.Sequential(nn.Flatten(), nn.Linear(12, 3)), (1, 3, 4), ("ant", "bee", "cat"), name="two"
    )
    first = filled.library.model
    filled.library.add_model(filled.answers.hold(made))
    card = next(one for one in filled.library.models if one.name == "two")
    filled.library.use_model(first)
    return card


@pytest.fixture
def wall(qtbot, filled, other, request_of):
    """The findings of both models: of the first two and one alike, of the second two."""
    widget = Findings(filled)
    qtbot.addWidget(widget)
    widget.resize(1000, 600)
    with qtbot.waitExposed(widget):
        widget.show()
    filled.submit(request_of())
    filled.submit(build_request("count_up", [other], filled.library.dataset, {}, indices=[3]))
    qtbot.waitUntil(lambda: widget.model.rowCount() == 4)
    workspace = filled.history.workspace
    first = next(one for one in filled.history.runs if one.request.models[0].name == "thirds")
    workspace.add_findings(first.id, [Finding("trap", "cat is lost", 0.3)])
    filled.history.refresh()
    qtbot.waitUntil(lambda: len(filled.history.findings) == 5)
    return widget


def owners(wall):
    return {wall.model.owner(row) for row in wall.model.rows}


def test_each_card_names_its_model_and_data(wall):
    assert owners(wall) == {"input 3 of small: thirds", "input 3 of small: two"}
    tips = [wall.model.index(row).data(Qt.ItemDataRole.ToolTipRole) for row in range(4)]
    assert all("of small: " in tip for tip in tips)


def test_the_wall_can_show_the_findings_of_one_model(wall):
    assert wall.bar.models.isVisible()
    wall.bar.models.setCurrentText("two")
    assert owners(wall) == {"input 3 of small: two"} and wall.count.text() == "2 of 4 findings"
    wall.bar.models.setCurrentIndex(0)
    wall.text.setText("thirds")
    assert owners(wall) == {"input 3 of small: thirds"}, "the text filter knows the model too"


def test_overview_and_wall_name_the_same_number(qtbot, wall, filled):
    overview = Overview(filled)
    qtbot.addWidget(overview)
    overview.wants_findings.connect(wall.show_model)
    with qtbot.waitExposed(overview):
        overview.show()
    assert wall.count.text() == "4 findings (5 with those alike)"
    button = overview.hero.next["findings"]
    assert button.text() == "See 2 of 4 findings"
    wall.starred.setChecked(True)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert wall.count.text() == "2 of 4 findings (3 with those alike)"
    qtbot.waitUntil(lambda: not filled.pictures.busy)
    assert owners(wall) == {"input 3 of small: thirds"}
