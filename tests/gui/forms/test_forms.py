"""Forms made from Params: what is shown, what comes back, what is said when it is wrong."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Literal

import pytest
from pydantic import Field, model_validator
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QScrollArea, QSpinBox

from robgui.core.execution.params.params import Params
from robgui.core.execution.registry import analyses
from robgui.gui.forms.foreign_targets import drop_foreign_targets
from robgui.gui.forms.form_editors import editor_for
from robgui.gui.forms.forms import ParamsForm


class Everything(Params):
    samples: int = Field(1024, ge=1, le=100_000, title="Samples", description="How many.")
    radii: tuple[float, ...] = Field((0.0, 0.5), title="Radii")
    chance: float = Field(1e-10, gt=0, lt=1, title="Critical probability")
    sampler: Literal["sobol", "plain"] = Field("sobol", title="Sampler")
    keep: bool = Field(False, title="Keep")
    target: int | None = Field(None, title="Target", json_schema_extra={"empty": "predicted class"})
    seconds: float = Field(0.0, ge=0, title="Seconds", json_schema_extra={"zero": "no limit"})
    inputs: int = Field(0, ge=0, le=1000, title="Inputs", json_schema_extra={"zero": "all"})
    margin: int = Field(3, ge=1, le=10, title="Margin", json_schema_extra={"rare": True})

    @model_validator(mode="after")
    def _fits_together(self) -> Everything:
        if self.inputs > self.samples:
            raise ValueError(f"inputs = {self.inputs} must not exceed samples = {self.samples}")
        return self


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
    assert values == Everything(
        samples=2048, radii=(0, 0.1, 0.25), sampler="plain", keep=True, target=3
    )


def said(form, title):
    """The sentence that stands under a field, or under the form; empty when none is seen."""
    label = next(
        label
        for label in form.findChildren(QLabel)
        if label.accessibleName() == f"Problem with {title}"
    )
    return label.text() if label.isVisible() else ""


def type_into(qtbot, widget, text):
    widget.setFocus()
    widget.selectAll()
    qtbot.keyClick(widget, Qt.Key.Key_Delete)
    qtbot.keyClicks(widget, text)


def test_a_value_out_of_bounds_is_said_under_its_field_by_its_title_and_gives_no_params(
    form, qtbot
):
    line = find(form, QLineEdit, "Critical probability")
    type_into(qtbot, line, "2")
    assert form.values() is None
    assert (
        said(form, "Critical probability") == "Critical probability is 2: it should be less than 1."
    )
    assert line.property("wrong") is True
    assert line.accessibleDescription() == said(form, "Critical probability")
    type_into(qtbot, line, "0.5")
    assert form.values() == Everything(chance=0.5)
    assert said(form, "Critical probability") == ""
    assert line.property("wrong") is False


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("0", "Samples is 0: it should be greater than or equal to 1."),
        ("-5", "Samples is -5: it should be greater than or equal to 1."),
        ("200000", "Samples is 200000: it should be less than or equal to 100000."),
        ("", "Samples is empty; type a whole number."),
    ],
)
def test_a_forbidden_whole_number_stays_as_typed_and_is_said_at_once(form, qtbot, typed, sentence):
    box = find(form, QSpinBox, "Samples")
    type_into(qtbot, box, typed)
    assert box.lineEdit().text() == typed
    assert form.values() is None
    assert said(form, "Samples") == sentence
    assert box.property("wrong") is True


def test_a_forbidden_whole_number_is_still_there_after_enter(form, qtbot):
    box = find(form, QSpinBox, "Samples")
    type_into(qtbot, box, "0")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert box.value() == 0
    assert form.values() is None


def test_an_emptied_number_comes_back_on_enter_and_is_valid_again(form, qtbot):
    box = find(form, QSpinBox, "Samples")
    type_into(qtbot, box, "")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert form.values() == Everything()
    assert said(form, "Samples") == ""


def test_the_arrows_stay_within_the_bounds_and_lead_back_to_them(form, qtbot):
    box = find(form, QSpinBox, "Samples")
    for typed, key, reached in (
        ("1", Qt.Key.Key_Down, 1),
        ("100000", Qt.Key.Key_Up, 100_000),
        ("0", Qt.Key.Key_Up, 1),
        ("5", Qt.Key.Key_Up, 6),
    ):
        type_into(qtbot, box, typed)
        qtbot.keyClick(box, key)
        assert box.value() == reached
        assert form.values() == Everything(samples=reached)


def test_of_several_words_each_has_a_box_that_says_what_it_means(qtbot):
    made = ParamsForm(analyses()["semantic_regions"].params)
    qtbot.addWidget(made)
    made.show()
    boxes = [box for box in made.findChildren(QCheckBox) if box.text().startswith("grow")]
    words = ["grow, naive", "grow, black-box", "grow, with gradients"]
    assert [box.text() for box in boxes] == words
    boxes[1].setChecked(False)
    assert made.values().methods == ("naive", "oir_w")
    for box in boxes:
        box.setChecked(False)
    assert made.values() is None and said(made, "Methods")


def test_what_is_wrong_between_fields_is_said_under_the_form_with_their_titles(form, qtbot):
    type_into(qtbot, find(form, QSpinBox, "Samples"), "5")
    type_into(qtbot, find(form, QSpinBox, "Inputs"), "9")
    assert form.values() is None
    assert said(form, "the settings") == "Inputs = 9 must not exceed Samples = 5."


def test_a_wrong_field_behind_more_is_brought_to_light(form):
    form.set_values({"margin": 11})
    assert find(form, QSpinBox, "Margin").isVisible()
    assert said(form, "Margin") == "Margin is 11: it should be less than or equal to 10."


def test_empty_text_and_zero_say_what_they_mean(form, qtbot):
    assert find(form, QLineEdit, "Target").placeholderText() == "predicted class"
    seconds = find(form, QLineEdit, "Seconds")
    assert (seconds.text(), seconds.placeholderText()) == ("", "no limit")
    type_into(qtbot, seconds, "2.5")
    assert form.values() == Everything(seconds=2.5)
    type_into(qtbot, seconds, "")
    assert form.values() == Everything()


def test_a_digit_typed_into_the_word_for_zero_replaces_the_word(form, qtbot):
    box = find(form, QSpinBox, "Inputs")
    assert box.text() == "all"
    box.setFocus()
    box.lineEdit().setCursorPosition(3)
    qtbot.keyClicks(box, "12")
    assert form.values() == Everything(inputs=12)
    type_into(qtbot, box, "0")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert box.text() == "all"
    assert form.values() == Everything()


def test_an_empty_number_without_a_meaning_is_said(form, qtbot):
    type_into(qtbot, find(form, QLineEdit, "Critical probability"), "")
    assert said(form, "Critical probability") == "Critical probability is empty; type a number."


def test_every_optional_text_field_of_every_analysis_says_what_empty_means(qtbot):
    ours = [
        known
        for known in analyses().values()
        if known.engine.__module__.startswith("robgui.analyses.")
    ]
    for known in ours:
        form = ParamsForm(known.params)
        qtbot.addWidget(form)
        for line in form.findChildren(QLineEdit):
            if line.accessibleName() and not line.text():
                assert line.placeholderText(), f"{known.name}: {line.accessibleName()}"


def test_words_instead_of_a_number_are_said(form, qtbot):
    type_into(qtbot, find(form, QLineEdit, "Radii"), "many")
    assert form.values() is None
    assert said(form, "Radii") == "Radii = 'many' is not a number."


def test_a_range_of_radii_can_be_typed_as_first_last_count(form, qtbot):
    line = find(form, QLineEdit, "Radii")
    line.clear()
    qtbot.keyClicks(line, "0:1:5")
    assert form.values().radii == (0, 0.25, 0.5, 0.75, 1)


def test_stored_settings_come_back_and_defaults_can_be_restored(form):
    other = Everything(
        samples=7, radii=(0.3,), chance=0.25, sampler="plain", keep=True, target=2, seed=9, batch=64
    )
    form.set_values(other.model_dump(mode="json"))
    assert form.values() == other
    form.reset()
    assert form.values() == Everything()


def test_changed_is_told_on_every_edit(form, qtbot):
    with qtbot.waitSignal(form.changed):
        qtbot.mouseClick(find(form, QCheckBox, "Keep"), Qt.MouseButton.LeftButton)


def test_a_long_list_of_numbers_has_the_whole_width_of_the_form(qtbot):
    made = ParamsForm(analyses()["zonnscan"].params)
    qtbot.addWidget(made)
    made.resize(270, 500)
    with qtbot.waitExposed(made):
        made.show()
    assert find(made, QLineEdit, "Radii").width() >= 0.9 * made.width()


@pytest.mark.parametrize("width", [220, 300, 420])
def test_what_is_wrong_with_a_field_is_read_whole(qtbot, width):
    page = QScrollArea(widgetResizable=True)
    qtbot.addWidget(page)
    form = ParamsForm(Everything)
    page.setWidget(form)
    page.resize(width, 600)
    with qtbot.waitExposed(page):
        page.show()
    line = find(form, QLineEdit, "Critical probability")
    line.clear()
    qtbot.keyClicks(line, "rather small, and in any case smaller than the one before")
    label = find(form, QLabel, "Problem with Critical probability")
    qtbot.waitUntil(
        lambda: label.isVisible() and label.height() >= label.heightForWidth(label.width()) > 0,
    )
    sizes = QFontMetrics(label.font()).boundingRect(
        0, 0, label.width(), 10_000, Qt.TextFlag.TextWordWrap, label.text()
    )
    assert label.contentsRect().height() >= sizes.height()


def test_a_preset_fills_the_form_and_what_is_typed_afterwards_wins(qtbot):
    from robgui.analyses.feature_game import FeatureGameParams

    form = ParamsForm(FeatureGameParams)
    qtbot.addWidget(form)
    form.editors["preset"].widget.setCurrentText("paper")
    assert form.values().max_calls == 60_000 and form.editors["max_calls"].value() == 60_000
    form.editors["max_calls"].show_value(5000)
    assert form.values().preset == "paper" and form.values().max_calls == 5000
    form.editors["preset"].widget.setCurrentText("default")
    assert form.values() == FeatureGameParams()


@pytest.mark.parametrize(
    ("analysis", "field"),
    [
        ("zonnscan", "zone"),
        ("zonnscan", "sampler"),
        ("feature_game", "norm"),
        ("feature_game", "player"),
        ("last_particle", "noise"),
        ("semantic_regions", "mode"),
    ],
)
def test_a_word_of_the_papers_stands_behind_what_it_means(qtbot, analysis, field):
    info = analyses()[analysis].params.model_fields[field]
    made = editor_for(field, info)
    qtbot.addWidget(made.widget)
    shown = [made.widget.itemText(place) for place in range(made.widget.count())]
    default = info.get_default()
    assert made.value() == default
    assert shown[made.widget.currentIndex()].endswith(f"({default})")
    means = info.json_schema_extra["means"]
    assert set(means) <= {made.widget.itemData(place) for place in range(made.widget.count())}


def test_a_class_aimed_at_in_another_model_is_dropped_and_one_that_both_have_stays(qtbot):
    form = ParamsForm(analyses()["feature_game"].params)
    qtbot.addWidget(form)
    for typed, kept in (("green", ""), ("ship", "ship"), ("1", "1"), ("all", "all")):
        form.set_values({"target": typed})
        drop_foreign_targets([form], SimpleNamespace(labels=("frog", "ship")))
        assert form.values().target == kept


@pytest.mark.parametrize(
    ("typed", "value", "shown"),
    [
        ("1e-8", 1e-8, "10⁻⁸"),
        ("0.0002", 2e-4, "2·10⁻⁴"),
        ("10⁻⁶", 1e-6, "10⁻⁶"),
        ("0.01", 0.01, "0.01"),
        ("0.00012345678", 0.00012345678, "0.00012345678"),
    ],
)
def test_a_small_number_is_written_as_everywhere_and_typed_as_one_likes(form, typed, value, shown):
    line = find(form, QLineEdit, "Critical probability")
    assert line.text() == "10⁻¹⁰"
    line.selectAll()
    line.insert(typed)  # as from the clipboard: no test types a raised digit
    assert form.values().chance == value
    form.set_values({"chance": value})
    assert line.text() == shown and form.values().chance == value
