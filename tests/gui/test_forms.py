"""Forms made from Params: what is shown, what comes back, what is said when it is wrong."""

from __future__ import annotations

from typing import Literal

import pytest
from pydantic import Field
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QSpinBox

from robgui.core.analysis import Params
from robgui.gui.forms import ParamsForm


class Everything(Params):
    samples: int = Field(1024, ge=1, le=100_000, title="Samples", description="How many.")
    radii: tuple[float, ...] = Field((0.0, 0.5), title="Radii")
    chance: float = Field(1e-10, gt=0, lt=1, title="Critical probability")
    sampler: Literal["sobol", "plain"] = Field("sobol", title="Sampler")
    keep: bool = Field(False, title="Keep")
    target: int | None = Field(None, title="Target")


@pytest.fixture
def form(qtbot):
    made = ParamsForm(Everything)
    qtbot.addWidget(made)
    made.show()
    return made


def find(form, kind, title):
    return next(widget for widget in form.findChildren(kind) if widget.accessibleName() == title)


def test_a_fresh_form_holds_the_defaults(form):
    assert form.values() == Everything()


def test_every_kind_of_field_gives_back_what_the_user_enters(form, qtbot):
    find(form, QSpinBox, "Samples").setValue(2048)
    line = find(form, QLineEdit, "Radii")
    line.clear()
    qtbot.keyClicks(line, "0, 0.1, .25")
    find(form, QComboBox, "Sampler").setCurrentText("plain")
    find(form, QCheckBox, "Keep").setChecked(True)
    target = find(form, QLineEdit, "Target")
    qtbot.keyClicks(target, "3")
    values = form.values()
    assert values == Everything(samples=2048, radii=(0, 0.1, 0.25), sampler="plain", keep=True, target=3)


def test_a_value_out_of_bounds_is_said_under_the_form_and_gives_no_params(form, qtbot):
    line = find(form, QLineEdit, "Critical probability")
    line.clear()
    qtbot.keyClicks(line, "2")
    problem = next(label for label in form.findChildren(QLabel) if label.accessibleName() == "Problem with the settings")
    assert form.values() is None
    assert problem.isVisible()
    assert "chance" in problem.text() and "less than 1" in problem.text()
    line.clear()
    qtbot.keyClicks(line, "0.5")
    assert form.values() == Everything(chance=0.5)
    assert not problem.isVisible()


def test_words_instead_of_a_number_are_said(form, qtbot):
    line = find(form, QLineEdit, "Radii")
    line.clear()
    qtbot.keyClicks(line, "many")
    assert form.values() is None


def test_a_range_of_radii_can_be_typed_as_first_last_count(form, qtbot):
    line = find(form, QLineEdit, "Radii")
    line.clear()
    qtbot.keyClicks(line, "0:1:5")
    assert form.values().radii == (0, 0.25, 0.5, 0.75, 1)


def test_stored_settings_come_back_and_defaults_can_be_restored(form):
    other = Everything(samples=7, radii=(0.3,), chance=0.25, sampler="plain", keep=True, target=2, seed=9, batch=64)
    form.set_values(other.model_dump(mode="json"))
    assert form.values() == other
    form.reset()
    assert form.values() == Everything()


def test_changed_is_told_on_every_edit(form, qtbot):
    with qtbot.waitSignal(form.changed, timeout=1000):
        qtbot.mouseClick(find(form, QCheckBox, "Keep"), Qt.MouseButton.LeftButton)
