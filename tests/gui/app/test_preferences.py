"""Preferences: thresholds are seen, set, kept for the user and used by forms and inspections."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QDialogButtonBox, QLabel

from robgui.core import trust
from robgui.core.execution import registry
from robgui.core.execution.params.thresholds import every
from robgui.core.execution.worker.workers import usual_memory
from robgui.core.text.words import amount
from robgui.gui.app.preferences import Preferences
from robgui.gui.app.settings import Settings, load_settings, save_settings
from robgui.gui.app.theme import theme
from robgui.gui.forms.run_pane import RunPane
from robgui.gui.state.store import Store

OK = QDialogButtonBox.StandardButton.Ok


@pytest.fixture
def store(qtbot):
    made = Store()
    made.analyses = registry.analyses()
    yield made
    assert made.shutdown()


@pytest.fixture
def dialog(qtbot, store):
    made = Preferences(store)
    qtbot.addWidget(made)
    return made


def test_every_threshold_has_a_row_with_its_unit_default_and_what_uses_it(dialog, store):
    known = every(store.analyses.values())
    assert set(dialog.editors) == {one.key for one in known}
    words = [label.text() for label in dialog.findChildren(QLabel)]
    for one in known:
        title = f"{one.title[:1].lower()}{one.title[1:]}"
        assert f"{store.analyses[one.analysis].title} · {title}" in words
        assert one.description in words
        assert any(said.startswith(f"{one.unit}, default ") for said in words) or one.zero
    assert "default a tenth of the largest" in words
    assert dialog.chosen() == {}


def test_only_what_differs_from_the_programs_own_is_kept(dialog):
    dialog.editors["deepinspect.most_wrong"].show_value(0.2)
    assert dialog.chosen() == {"deepinspect.most_wrong": 0.2}
    dialog.restore()
    assert dialog.chosen() == {}


def test_a_threshold_that_cannot_be_is_told_and_ok_waits(qtbot, dialog):
    field = dialog.editors["deepinspect.most_wrong"].widget
    field.selectAll()
    qtbot.keyClicks(field, "7")
    assert not dialog.buttons.button(OK).isEnabled() and "Most wrong" in dialog.problem.text()
    field.selectAll()
    qtbot.keyClicks(field, "0.3")
    assert dialog.buttons.button(OK).isEnabled() and not dialog.problem.text()


def test_a_form_begins_with_the_users_thresholds_and_follows_them_where_it_was_not_touched(
    qtbot, store
):
    store.next_run.set_thresholds({"feature_game.few_pixels": 0.1})
    pane = RunPane(store)
    qtbot.addWidget(pane)
    pane.show_analysis("feature_game")
    assert pane.form().values().few_pixels == 0.1
    store.next_run.set_thresholds({"feature_game.few_pixels": 0.2})
    assert pane.form().values().few_pixels == 0.2
    pane.form().set_values({"few_pixels": 0.5})
    store.next_run.set_thresholds({"feature_game.few_pixels": 0.3})
    assert pane.form().values().few_pixels == 0.5, "the user has set it for this run"
    pane.form().reset()
    assert pane.form().values().few_pixels == 0.3


def test_thresholds_outlive_the_session(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBGUI_CONFIG", str(tmp_path / "settings.json"))
    save_settings(Settings(thresholds={"zonnscan.hold_radius": 0.05}))
    assert load_settings().thresholds == {"zonnscan.hold_radius": 0.05}


def test_trust_in_a_file_is_shown_and_taken_back(qtbot, store):
    trust.trust("0" * 64, "<b>evil</b>.pth\nnets.py:net")
    trust.trust("1" * 64, "mine.pth")
    dialog = Preferences(store)
    qtbot.addWidget(dialog)
    files = dialog.trusted.files
    assert [files.item(row).text() for row in range(2)] == [
        "<b>evil</b>.pth nets.py:net",
        "mine.pth",
    ]
    assert not dialog.trusted.revoke.isEnabled()
    files.setCurrentRow(0)
    dialog.trusted.revoke.click()
    assert set(trust.trusted()) == {"1" * 64} and files.count() == 1
    files.setCurrentRow(0)
    dialog.trusted.revoke.click()
    assert trust.trusted() == {} and "No file may run code" in dialog.trusted.words.text()


def test_the_size_of_the_text_is_offered_beside_the_one_in_use(qtbot, store):
    dialog = Preferences(store, None, Settings(font_scale=1.21))
    qtbot.addWidget(dialog)
    sizes = [dialog.text_size.itemText(place) for place in range(dialog.text_size.count())]
    assert sizes == ["100 %", "121 %", "125 %", "150 %", "200 %"]
    assert dialog.text_size.currentText() == "121 %"
    dialog.restore()
    assert dialog.text_size.currentText() == "100 %"


def test_how_many_runs_at_once_and_how_much_memory_is_said_with_its_default(qtbot, store):
    settings = Settings()
    dialog = Preferences(store, None, settings)
    qtbot.addWidget(dialog)
    fields = dialog.processes
    assert fields.chosen == (1, 0.0)
    words = [label.text() for label in fields.findChildren(QLabel)]
    assert "default: 1" in words
    assert f"default: 80 % of this machine's, {amount(usual_memory())}" in words
    assert fields.memory.text() == "80 % of the memory"
    fields.at_once.setValue(2)
    assert f"{amount(usual_memory() // 2)} each" in fields.much.text()
    fields.memory.setValue(0.5)
    assert not dialog.buttons.button(OK).isEnabled() and "at least 1 GB" in dialog.problem.text()
    fields.memory.setValue(2.5)
    assert dialog.buttons.button(OK).isEnabled() and fields.chosen == (2, 2.5)
    dialog.restore()
    assert fields.chosen == (1, 0.0)


def test_settings_of_two_lines_share_a_tab(dialog):
    tabs = dialog.tabs.bar
    assert [tabs.tabText(place) for place in range(tabs.count())] == ["Thresholds", "General"]
    general = dialog.tabs.stack.widget(1)
    for widget in (dialog.processes, dialog.look, dialog.trusted):
        assert general.isAncestorOf(widget)


def test_a_box_at_the_end_of_its_range_keeps_both_arrows(qtbot, dialog):
    dialog.tabs.bar.setCurrentIndex(1)
    dialog.show()
    theme.apply(False)
    box = dialog.processes.at_once
    image = box.grab().toImage()
    assert box.value() == box.minimum()
    edge, lowest = image.pixelColor(image.width() - 12, 2).name(), image.height() // 2
    inked = [
        (x, y)
        for x in range(image.width() - 16, image.width() - 4)
        for y in range(lowest + 1, image.height() - 3)
        if image.pixelColor(x, y).name() not in (edge, theme.colours.surface.lower())
    ]
    assert len(inked) > 10, "the arrow downwards is pale and there"


def test_a_settings_file_with_impossible_numbers_is_not_believed(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBGUI_CONFIG", str(tmp_path / "settings.json"))
    for text in ('{"runs_at_once": 0}', '{"runs_at_once": 400}', '{"memory_gb": -3}'):
        (tmp_path / "settings.json").write_text(text)
        assert load_settings() == Settings()
