from __future__ import annotations

import dataclasses

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette, QPixmap
from PySide6.QtWidgets import QPushButton

from robgui.core.execution import registry
from robgui.core.finding import Finding, StoredFinding
from robgui.core.finding_groups import Group
from robgui.core.harm import Harm
from robgui.core.verdict import Status, Verdict
from robgui.core.view.ink import status_ink
from robgui.core.workspace import Workspace
from robgui.gui.app.theme import theme
from robgui.gui.pages.findings import Findings
from robgui.gui.pages.findings.answer_row import AnswerRow
from robgui.gui.pages.findings.bar import NAMED, WORST
from robgui.gui.pages.findings.harm_dialog import HarmDialog, classes_to_ask
from robgui.gui.pages.findings.known import beyond
from robgui.gui.pages.findings.page import LOADING, NOTHING_YET
from robgui.gui.pages.findings.wall import Wall
from robgui.gui.pages.findings.wall_items import WallModel, star_place
from robgui.gui.state.selection import Selection
from robgui.gui.state.store import Store
from robgui.gui.widgets.inks import colour


@pytest.fixture
def findings(qtbot, filled, request_of):
    widget = Findings(filled)
    qtbot.addWidget(widget)
    widget.resize(900, 400)
    with qtbot.waitExposed(widget):
        widget.show()
    filled.submit(request_of())
    qtbot.waitUntil(lambda: widget.model.rowCount() == 2)
    return widget


def titles(findings):
    return [row.title for row in findings.model.rows]


def click(qtbot, findings, row, *, star=False):
    card = findings.wall.visualRect(findings.model.index(row))
    place = star_place(card.adjusted(4, 4, -4, -4)).center() if star else card.center()
    qtbot.mouseClick(findings.wall.viewport(), Qt.MouseButton.LeftButton, pos=place)


def settle(qtbot, store):
    qtbot.waitUntil(lambda: not (store.busy or store.keeping.busy))


def test_without_findings_it_says_what_to_do(qtbot, store):
    widget = Findings(store)
    qtbot.addWidget(widget)
    widget.show()
    assert widget.stack.currentIndex() == 1
    assert "Run an analysis" in widget.empty.text()


def test_a_wall_comes_to_rest_where_smaller_cards_need_no_scroll_bar(qtbot, store):
    model = WallModel(store)
    wall = Wall(store, model)
    qtbot.addWidget(wall)
    found = [StoredFinding("corruption", "x", 0.5, id=number, run_id="r") for number in range(7)]
    model.show([Group(one, (one,), 0.5) for one in found])
    with qtbot.waitExposed(wall):
        wall.show()
    # Three columns are three rows and fit; two would be four and need a scroll bar.
    width = 3 * wall.delegate.narrowest() + 45
    wall.delegate.width = width // 3
    wall.resize(width, round(3.5 * wall.sizeHintForIndex(model.index(0)).height()))
    same_row = [model.index(0), model.index(2)]
    qtbot.waitUntil(lambda: len({wall.visualRect(index).top() for index in same_row}) == 1)
    with qtbot.assertNotEmitted(wall.verticalScrollBar().rangeChanged, wait=300):
        wall.look_soon()


def test_the_worst_comes_first_unless_another_order_is_chosen(qtbot, findings):
    assert titles(findings) == ["cat is lost", "ant becomes bee"]
    findings.bar.order.setCurrentText(NAMED)
    assert titles(findings) == ["ant becomes bee", "cat is lost"]
    findings.bar.order.setCurrentText(WORST)
    assert titles(findings) == ["cat is lost", "ant becomes bee"]


def test_a_star_survives_reopening(qtbot, findings, filled):
    click(qtbot, findings, 0, star=True)
    assert findings.model.rows[0].starred
    assert findings.pages.currentIndex() == 0, "a star opens nothing"
    settle(qtbot, filled)
    assert [f.starred for f in filled.history.findings] == [True, False]
    path = filled.history.workspace.path
    assert filled.shutdown()
    with Workspace.open(path) as again:
        assert [f.starred for f in again.findings()] == [True, False]


def test_space_stars_and_starred_only_shows_it(qtbot, findings, filled):
    findings.wall.setCurrentIndex(findings.model.index(1))
    qtbot.keyClick(findings.wall, Qt.Key.Key_Space)
    settle(qtbot, filled)
    findings.starred.setChecked(True)
    assert titles(findings) == ["ant becomes bee"]
    assert findings.count.text() == "1 of 2 findings"


def test_a_note_is_written_on_the_page_of_a_finding_and_found_by_the_filter(
    qtbot, findings, filled
):
    click(qtbot, findings, 0)
    assert findings.pages.currentWidget() is findings.view
    qtbot.keyClicks(findings.view.note, "ask the painter")
    qtbot.waitUntil(lambda: filled.history.workspace.findings()[0].note == "ask the painter")
    qtbot.mouseClick(findings.view.back, Qt.MouseButton.LeftButton)
    qtbot.keyClicks(findings.text, "painter")
    assert titles(findings) == ["cat is lost"]


def test_a_note_being_written_is_not_disturbed_by_new_findings(qtbot, findings, filled, request_of):
    click(qtbot, findings, 0)
    qtbot.keyClicks(findings.view.note, "half a")
    filled.submit(request_of(steps=2))
    qtbot.waitUntil(lambda: len(filled.history.findings) == 4)
    qtbot.keyClicks(findings.view.note, " note")
    assert findings.view.note.toPlainText() == "half a note"
    qtbot.waitUntil(lambda: "half a note" in [row.note for row in filled.history.findings])


def test_the_page_of_a_finding_says_what_is_known_of_its_input_and_asks_the_rest_with_one_click(
    qtbot, findings, filled
):
    click(qtbot, findings, 0)
    view = findings.view
    assert view.title.text() == "cat is lost" and view.place.text() == "1 of 2"
    rows = view.findChildren(AnswerRow)
    told = [row for row in rows if row.button.text() == "Open"]
    assert [row.title.text().split(" ", 1)[-1] for row in told] == ["Counting"]
    links = [one.text() for one in view.findChildren(QPushButton) if "Also: " in one.text()]
    assert links == ["Also: ant becomes bee"], "the other failure of the same input"
    qtbot.mouseClick(view.later, Qt.MouseButton.LeftButton)
    assert view.title.text() == "ant becomes bee" and not view.later.isEnabled()
    unasked = [row for row in rows if row.button.text() == "Run"]
    if unasked:
        with qtbot.waitSignal(findings.wants):
            unasked[0].button.click()


def test_a_finding_that_is_deleted_leads_back_to_the_wall(qtbot, findings, filled):
    click(qtbot, findings, 0)
    filled.history.delete_run(filled.history.runs[0])
    qtbot.waitUntil(lambda: findings.pages.currentIndex() == 0)
    assert findings.model.rowCount() == 0


def test_a_chip_filters_by_confusion_and_is_read_aloud(qtbot, findings, filled):
    several(filled, confused("for bee", 0.8, "bee"), confused("for cat", 0.6, "cat"))
    qtbot.waitUntil(lambda: findings.model.rowCount() == 4)
    findings.bar.confusions.setCurrentText("ant → CAT")
    assert titles(findings) == ["for cat"]
    spoken = findings.model.index(0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.startswith("ant → CAT. for cat. input 3 of small: thirds. Severity 0.60.")


def test_card_and_page_name_the_file_of_the_input_that_failed(qtbot, findings, filled):
    named = Finding("wrong input", "ant is a bee", 0.95, {"place": 0, "input_name": "ant/07.png"})
    several(filled, named)
    qtbot.waitUntil(lambda: findings.model.rowCount() == 3, timeout=10_000)
    place = titles(findings).index("ant is a bee")
    lead = findings.model.rows[place]
    assert findings.model.owner(lead) == "ant/07.png, input 3 of small: thirds"
    findings.view.show_finding(lead)
    subject = findings.view.subject.text()
    assert subject.endswith(" on ant/07.png, input 3 of small") and subject.count("input 3") == 1


def test_the_page_of_a_finding_does_not_tell_its_title_twice():
    said = Verdict(Status.FAILS, "ant/07.png: 2 pixels turn it; 573 calls.", scope="All of it.")
    assert beyond("ant/07.png: 2 pixels turn it", said) == "573 calls. All of it."
    for title in ("Another title", "ant/07.png: 2 pixels turn i"):
        assert beyond(title, said) == f"{said.sentence} All of it."


def test_the_kind_filter_lists_the_kinds_there_are(findings):
    assert [findings.kinds.itemText(i) for i in range(findings.kinds.count())] == [
        "All kinds",
        "crossing",
        "trap",
    ]
    findings.kinds.setCurrentText("crossing")
    assert titles(findings) == ["ant becomes bee"]


def test_selecting_a_finding_tells_the_store(qtbot, findings, filled):
    click(qtbot, findings, 1)
    chosen = findings.model.rows[1]
    assert (filled.selection.finding, filled.selection.run) == (chosen.id, chosen.run_id)


def test_show_its_run_draws_the_run(qtbot, findings, filled):
    click(qtbot, findings, 0)
    with qtbot.waitSignal(filled.history.result_shown) as shown:
        qtbot.mouseClick(findings.view.run, Qt.MouseButton.LeftButton)
    assert shown.args[0].id == findings.model.rows[0].run_id


def test_pictures_are_read_for_what_is_on_screen(qtbot, findings):
    with_picture = findings.model.rows[1]
    qtbot.waitUntil(lambda: isinstance(findings.wall.thumbnails.get(with_picture.id), QPixmap))
    assert findings.wall.thumbnails.get(with_picture.id).size().toTuple() == (30, 20)


def choose(menu, words):
    next(action for action in menu.actions() if words in action.text()).trigger()


def said_by(store):
    sentences = []
    store.said.connect(lambda level, sentence, details: sentences.append(sentence))
    return sentences


def test_a_replay_that_gives_the_same_says_so_and_leaves_one_run(qtbot, findings, filled):
    sentences = said_by(filled)
    choose(findings.menu(0), "Replay")
    qtbot.waitUntil(lambda: any("came out again" in sentence for sentence in sentences))
    assert (
        "to the last bit: “cat is lost”" in sentences[-1]
        and "2 of the 2 findings of its run came out the same" in sentences[-1]
    )
    qtbot.waitUntil(
        lambda: len(filled.history.runs) == 1 and not (filled.busy or filled.keeping.busy),
    )
    assert len(filled.history.findings) == 2


def test_a_replay_that_gives_something_else_is_kept_and_said(qtbot, findings, filled):
    sentences = said_by(filled)
    known = filled.analyses["count_up"]
    changed = dataclasses.replace(
        known, findings=lambda result, params: [Finding("trap", "cat is lost", 0.8)]
    )
    registry.register(changed)
    choose(findings.menu(0), "Replay")
    qtbot.waitUntil(lambda: any("came out again" in sentence for sentence in sentences))
    assert (
        "but with severity 0.8 instead of 0.9" in sentences[-1]
        and "0 of the 2 findings" in sentences[-1]
    )
    assert len(filled.history.runs) == 2, "what differs stays, to be looked at"


def test_the_shown_findings_are_exported_as_images_and_csv(qtbot, findings, filled, tmp_path):
    findings.text.setText("ant")
    assert len(findings.shown()) == 1
    with qtbot.waitSignal(findings.wants_export):
        qtbot.mouseClick(findings.export, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(findings.wants_export):
        choose(findings.menu(0), "Export those shown")
    sentences = []
    filled.offered.connect(lambda sentence, *_: sentences.append(sentence))
    filled.history.exports.export_findings(tmp_path / "out", findings.shown())
    qtbot.waitUntil(lambda: any("Exported 1 finding to" in sentence for sentence in sentences))
    lines = (tmp_path / "out" / "findings.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2 and "ant becomes bee" in lines[1]
    assert [path.suffix for path in (tmp_path / "out" / "findings").iterdir()] == [".png"]


def test_while_a_workspace_is_read_the_list_says_so(qtbot, store, tmp_path):
    late = Store()
    widget = Findings(late)
    qtbot.addWidget(widget)
    widget.show()
    assert widget.empty.text() == LOADING
    (tmp_path / "broken.robgui").write_bytes(b"no workspace")
    late.history.open(tmp_path / "broken.robgui")
    qtbot.waitUntil(lambda: widget.empty.text() == NOTHING_YET)
    late.history.open(tmp_path / "good.robgui")
    with qtbot.waitSignal(late.history.opened):
        pass
    assert widget.empty.text() == NOTHING_YET
    assert late.shutdown()


def several(store, *findings):
    """Adds findings to the newest run of the workspace."""
    store.history.workspace.add_findings(store.history.runs[0].id, findings)
    store.history.refresh()


def confused(title, severity, given):
    return Finding("trap", title, severity, {"class": "ant", "other_class": given})


def test_findings_that_are_alike_are_one_entry_with_a_count_and_can_be_unfolded(
    qtbot, findings, filled
):
    several(filled, *(confused(f"hole {i}", 0.2 + i / 10, "bee") for i in range(4)))
    qtbot.waitUntil(lambda: findings.model.rowCount() == 3)
    assert titles(findings) == ["cat is lost", "hole 3", "ant becomes bee"]
    assert findings.count.text() == "3 findings (6 with those alike)"
    assert len(findings.shown()) == 6
    menu = {action.text(): action for action in findings.menu(1).actions()}
    menu["Show all 4 alike"].trigger()
    assert findings.model.rowCount() == 6
    assert findings.count.text() == "3 findings (6 with those alike)", "the number stays"
    row = titles(findings).index("hole 0")
    menu = {action.text(): action for action in findings.menu(row).actions()}
    menu["Show those alike as one entry"].trigger()
    assert findings.model.rowCount() == 3


def test_the_harm_of_a_confusion_weights_the_list_and_is_kept(qtbot, findings, filled):
    several(filled, confused("for bee", 0.8, "bee"), confused("for cat", 0.6, "cat"))
    qtbot.waitUntil(lambda: findings.model.rowCount() == 4)
    assert titles(findings)[1:3] == ["for bee", "for cat"]
    filled.history.set_harm(Harm.towards("cat", ["ant", "bee", "cat"]))
    assert titles(findings).index("for cat") == 1 and titles(findings).index("for bee") > 1
    row = titles(findings).index("for bee")
    assert findings.model.groups[row].severity == pytest.approx(0.4)
    assert "0.80 times 0.5" in findings.model.index(row).data(Qt.ItemDataRole.ToolTipRole)
    settle(qtbot, filled)
    path = filled.history.workspace.path
    assert filled.shutdown()
    with Workspace.open(path) as again:
        assert again.harm().of("ant", "bee") == 0.5 and again.harm().of("ant", "cat") == 1


def test_the_table_of_harm_has_presets_and_asks_first_about_classes_with_findings(
    qtbot, findings, filled
):
    several(filled, confused("for cat", 0.6, "cat"))
    qtbot.waitUntil(lambda: findings.model.rowCount() == 3)
    names = classes_to_ask(filled.history, ("bee", "cat", "dog"))
    assert names == ["ant", "cat", "bee", "dog"]
    dialog = HarmDialog(Harm().with_weight("owl", "ant", 0.25), names)
    qtbot.addWidget(dialog)
    assert dialog.preset.itemText(2) == "Seeing “cat” where it is not is worst"
    dialog.preset.setCurrentIndex(2)
    dialog.preset.activated.emit(2)
    said = dialog.harm()
    assert said.of("ant", "cat") == 1 and said.of("ant", "bee") == 0.5
    assert said.of("owl", "ant") == 0.25, "what is not asked about stays"
    dialog.boxes["ant", "bee"].setCurrentIndex(3)
    assert dialog.harm().of("ant", "bee") == 0


def test_a_finding_of_many_inputs_chooses_its_own(qtbot, findings, filled):
    several(filled, Finding("trap", "the second", 0.99, {"place": 0}))
    qtbot.waitUntil(lambda: findings.model.rowCount() == 3)
    filled.select(Selection(input=0))
    findings.show_run(findings.model.rows[0])
    assert filled.selection.input == 3, "its run looked at input 3 alone"


@pytest.mark.parametrize("width", [500, 700])
def test_buttons_of_a_finding_are_whole_where_there_is_little_room(qtbot, findings, width):
    findings.view.resize(width, 500)
    findings.view.show_finding(findings.model.rows[0])
    findings.view.setParent(None)
    with qtbot.waitExposed(findings.view):
        findings.view.show()
    findings.view.resize(width, 500)
    view = findings.view
    buttons = [view.star, view.looks, view.cause, view.run, view.present]
    qtbot.waitUntil(lambda: all(one.width() >= one.sizeHint().width() for one in buttons))
    assert view.width() == width


def test_the_status_of_a_finding_has_its_colour_in_every_look(qtbot, findings, filled):
    findings.view.show_finding(findings.model.rows[0])
    status, seen = filled.history.shown(filled.history.runs[0]).status, set()
    for dark in (True, False):
        theme.apply(dark)
        shown = findings.view.status.palette().color(QPalette.ColorRole.WindowText)
        assert shown == colour(status_ink(status))
        seen.add(shown.name())
    assert len(seen) == 2
