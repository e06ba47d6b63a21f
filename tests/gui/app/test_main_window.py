"""The assembled window: dropping files, pages, themes, text size, what is grey and why."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from PySide6.QtCore import QMimeData, QPointF, QRect, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QMessageBox, QPushButton, QSpinBox
from torch import nn

from robgui import resources
from robgui.core.execution.request import Request
from robgui.core.execution.worker.process import Place
from robgui.core.finding import Finding
from robgui.core.trust.opening import code_of
from robgui.gui.app.arranged import first_size
from robgui.gui.state.library.opening import Opening


def idle(qtbot, window):
    qtbot.waitUntil(lambda: not (window.store.busy or window.store.keeping.busy))


def drop(window, *paths):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    event = QDropEvent(
        QPointF(50, 50),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dropEvent(event)


def use(qtbot, window):
    """Presses Use model in the dialog of the model that was opened."""
    questions = window.commands.questions
    qtbot.waitUntil(lambda: questions.dialog is not None and questions.dialog.use.isEnabled())
    questions.dialog.use.click()
    idle(qtbot, window)


def test_models_and_data_can_be_dropped_onto_the_window(window, qtbot):
    drop(window, resources.path("demo", "traffic"), resources.path("demo", "traffic_cnn.pt2"))
    use(qtbot, window)
    assert window.store.library.dataset.name == "traffic"
    assert window.store.library.model.name == "traffic_cnn.pt2"
    assert str(resources.path("demo", "traffic")) in window.settings.recent


def test_a_new_model_leads_from_pages_about_other_models_to_its_overview(window, qtbot):
    drop(window, resources.path("demo", "traffic_cnn.pt2"))
    use(qtbot, window)
    assert window.pages.currentWidget() is window.welcome, "the data are opened there"
    drop(window, resources.path("demo", "traffic"))
    idle(qtbot, window)
    for show in (window.show_findings, window.show_comparison):
        show()
        assert window.pages.currentWidget() is not window.overview
        drop(window, resources.path("demo", "traffic_cnn.pt2"))
        use(qtbot, window)
        assert window.pages.currentWidget() is window.overview
    window.show_panel("zonnscan")
    drop(window, resources.path("demo", "traffic_cnn.pt2"))
    use(qtbot, window)
    assert window.current_panel is window.panel("zonnscan")


def test_only_what_could_be_read_is_a_recent_file(window, qtbot, tmp_path):
    bad, good = tmp_path / "bad.onnx", tmp_path / "good.npz"
    bad.write_bytes(b"no model")
    np.savez(good, images=np.zeros((2, 4, 4), np.uint8))
    for path in (bad, good):
        window.commands.open_path(path)
        idle(qtbot, window)
    assert [Path(text).name for text in window.settings.recent] == ["good.npz"]


def test_a_dropped_workspace_is_opened(window, qtbot, tmp_path):
    drop(window, tmp_path / "other.robgui")
    idle(qtbot, window)
    assert any("does not exist" in sentence for sentence in window.toasts.sentences)
    window.store.history.save_as(tmp_path / "copy.robgui")
    idle(qtbot, window)
    assert window.store.history.workspace.path.name == "copy.robgui"
    assert window.windowTitle().startswith("copy")


def test_run_is_grey_and_says_why_until_everything_is_there(window, qtbot):
    window.show_panel("zonnscan")
    assert not window.run_pane.run.isEnabled()
    assert any(
        label.text() == "Open a model first." and label.isVisible()
        for label in window.run_pane.findChildren(QLabel)
    )
    drop(window, resources.path("demo", "traffic_cnn.pt2"))
    use(qtbot, window)
    assert any(
        label.text() == "Open some inputs first." and label.isVisible()
        for label in window.run_pane.findChildren(QLabel)
    )
    drop(window, resources.path("demo", "traffic"))
    idle(qtbot, window)
    assert window.run_pane.run.isEnabled()


SLOW = """
import pathlib, time

from torch import nn

def slow():
    while not pathlib.Path({may_go_on!r}).exists():
        time.sleep(0.01)
    return nn.Sequential(nn.Flatten(), nn.Linear(16, 3))
"""


def test_while_files_are_read_the_form_and_the_status_bar_say_which(window, qtbot, tmp_path):
    may_go_on = tmp_path / "go on"
    (tmp_path / "nets.py").write_text(SLOW.format(may_go_on=str(may_go_on)), encoding="utf-8")
    torch.save(nn.Sequential(nn.Flatten(), nn.Linear(16, 3)).state_dict(), tmp_path / "slow.pth")
    np.savez(tmp_path / "greys.npz", images=np.zeros((4, 4, 4), np.uint8))
    window.show_panel("zonnscan")
    library = window.store.library
    settings = {"architecture": "nets.py:slow", "shape": (1, 4, 4)}
    digest = code_of(tmp_path / "slow.pth", **settings)
    library.load_model(
        Opening(tmp_path / "slow.pth", trusted=digest, settings=settings, quiet=True)
    )
    library.load_dataset(tmp_path / "greys.npz")

    def seen(widget):
        return {label.text() for label in widget.findChildren(QLabel) if label.isVisible()}

    for widget in (window.run_pane, window.status):
        qtbot.waitUntil(lambda w=widget: "Loading slow.pth …" in seen(w))
    # the data do not wait for the model
    qtbot.waitUntil(lambda: "4 inputs" in seen(window.gallery))
    assert "idle" not in seen(window.status) and "Open a model first." not in seen(window.run_pane)
    said = []
    window.store.working.connect(said.append)
    may_go_on.touch()
    idle(qtbot, window)
    assert said == [""]
    assert not any(
        text.startswith("Loading") for text in seen(window.run_pane) | seen(window.status)
    )
    assert window.run_pane.run.isEnabled()


def test_what_was_left_out_of_the_data_is_said_on_opening_and_stands_beside_the_inputs(
    window, qtbot, tmp_path
):
    (tmp_path / "rows.csv").write_text("a,b,class\n1,2,x\n3,,y\n5,6,x\n7,8,y\n", encoding="utf-8")
    drop(window, tmp_path / "rows.csv")
    idle(qtbot, window)
    sentence = "1 of 4 rows are left out because a value is missing."
    assert any(
        text.startswith("rows.csv: ") and sentence in text for text in window.toasts.sentences
    )
    assert sentence in window.log.text.toPlainText()
    assert "remark" in window.gallery.count.text()
    assert sentence in window.gallery.count.toolTip()


def test_a_forbidden_number_greys_run_as_soon_as_it_is_typed(window, qtbot):
    drop(window, resources.path("demo", "traffic_cnn.pt2"), resources.path("demo", "traffic"))
    use(qtbot, window)
    window.show_panel("zonnscan")
    assert window.run_pane.run.isEnabled()
    box = next(
        box
        for box in window.run_pane.form().findChildren(QSpinBox)
        if box.accessibleName() == "Samples"
    )
    box.selectAll()
    qtbot.keyClicks(box, "0")
    assert not window.run_pane.run.isEnabled()
    window.run_pane.start()
    assert window.store.runner.active is None
    seen = [label.text() for label in window.run_pane.findChildren(QLabel) if label.isVisible()]
    assert "Samples is 0: it should be greater than or equal to 1." in seen


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (1366, 728), (1024, 600)])
def test_the_first_window_fits_the_screen_with_its_frame(width, height):
    size = first_size(QRect(0, 0, width, height))
    assert size.width() <= width
    assert size.height() + 40 <= height


def test_the_first_window_is_no_larger_on_a_large_screen():
    assert first_size(QRect(0, 0, 3840, 2160)) == first_size(QRect(0, 0, 1920, 1080))


def test_pages_that_fill_the_window_put_docks_away_and_give_them_back(window, qtbot):
    window.show_panel("zonnscan")
    window.log_dock.hide()
    for whole in (window.welcome, window.findings):
        window.go_to(window.pages.indexOf(whole))
        assert window.gallery_dock.isHidden() and window.runs_dock.isHidden()
        window.show_panel("zonnscan")
        assert not window.gallery_dock.isHidden() and not window.runs_dock.isHidden()
        assert window.log_dock.isHidden(), "what the user has closed stays closed"
    window.go_to(0)
    window.room.give_back()
    assert not window.gallery_dock.isHidden(), "the layout that is kept is the user's"


def test_write_report_offers_html_and_pdf_and_the_ending_decides(
    window, qtbot, tmp_path, monkeypatch
):
    history = window.store.history
    history.workspace.add_run(Request(analysis="zonnscan", params={}))
    with qtbot.waitSignal(history.runs_changed):
        history.refresh()
    offered = []
    for answer, written in (
        ("plain", "plain.pdf"),
        ("page.html", "page.html"),
        ("book.pdf", "book.pdf"),
    ):

        def choose(parent, title, start, kinds, answer=answer):
            offered.append(kinds)
            return str(tmp_path / answer), "PDF (*.pdf)"

        monkeypatch.setattr(QFileDialog, "getSaveFileName", choose)
        window.actions_["report"].trigger()
        qtbot.waitUntil(
            lambda written=written: any(
                written in sentence for sentence in window.toasts.sentences
            ),
        )
    assert set(offered) == {"HTML (*.html);;PDF (*.pdf)"}
    kinds = [(tmp_path / name).read_bytes()[:5] for name in ("plain.pdf", "page.html", "book.pdf")]
    assert kinds == [b"%PDF-", b"<!doc", b"%PDF-"]
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    next(
        button
        for button in window.toasts.current.findChildren(QPushButton)
        if button.text() == "Open"
    ).click()
    assert [url.toLocalFile() for url in opened] == [(tmp_path / "book.pdf").as_posix()]


def test_findings_are_exported_from_the_file_menu(window, qtbot, tmp_path, monkeypatch):
    history = window.store.history
    assert not window.actions_["export_findings"].isEnabled()
    run = history.workspace.add_run(Request(analysis="zonnscan", params={}))
    history.workspace.add_findings(
        run.id, [Finding("trap", "cat is lost", 0.5, picture=np.zeros((4, 4, 3), np.uint8))]
    )
    with qtbot.waitSignal(history.findings_changed):
        history.refresh()
    window.commands.refresh()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path / "out"))
    window.actions_["export_findings"].trigger()
    idle(qtbot, window)
    assert "cat is lost" in (tmp_path / "out" / "findings.csv").read_text(encoding="utf-8")
    assert len(list((tmp_path / "out" / "findings").glob("*.png"))) == 1


def test_the_device_menu_sets_the_device_and_leads_to_a_cluster(qtbot, window):
    menu = window.status.device.menu()
    menu.aboutToShow.emit()
    actions = {action.text(): action for action in menu.actions() if action.text()}
    processor = next(action for text, action in actions.items() if text.startswith("cpu"))
    processor.trigger()
    assert window.store.library.device == "cpu"
    actions["Ray cluster, for batches …"].trigger()
    qtbot.waitUntil(window.commands.batch.isVisible)
    window.commands.batch.close()


def test_runs_can_be_sent_to_another_device_while_one_runs(qtbot, window, monkeypatch):
    monkeypatch.delenv("ROBGUI_INLINE")
    store, menu = window.store, window.status.device.menu()

    def destinations():
        menu.aboutToShow.emit()
        found = [action for action in menu.actions() if action.text() == "Send runs to"]
        return [] if not found else found[0].menu().actions()

    store.library.devices = [("cpu", "one processor")]
    assert destinations() == [], "there is nothing to choose from"
    store.library.devices = [("cuda:0", "one card"), ("cuda:1", "another"), ("cpu", "processor")]
    store.library.device = "cuda:0"
    words = [action.text() for action in destinations()]
    assert words == [
        "The device in use, or one that is free",
        "cuda:0: one card",
        "cuda:1: another",
        "cpu: processor",
    ]
    arranged = []
    monkeypatch.setattr(store.runner, "arrange", lambda places, memory: arranged.append(places))
    destinations()[2].trigger()
    assert arranged[-1] == [Place(), Place("cuda:1", asked=True)]
    assert [action.isChecked() for action in destinations()] == [False, False, True, False]
    window.status.look()
    assert window.status.device.text() == "cuda:0, runs cuda:1"
    destinations()[0].trigger()
    assert (arranged[-1], store.processes.device) == ([Place()], "")


def test_a_broken_model_says_so_while_runs_are_waiting(window, qtbot, tmp_path):
    drop(window, resources.path("demo", "traffic_cnn.pt2"), resources.path("demo", "traffic"))
    use(qtbot, window)
    window.show_panel("zonnscan")
    window.run_pane.form().set_values({"samples": 100_000, "target_half_width": 0.0})
    for number in range(3):
        window.store.select(window.store.selection.replace(input=number))
        window.run_pane.start()
    (tmp_path / "bad.onnx").write_bytes(b"no model")
    window.commands.open_path(tmp_path / "bad.onnx")
    qtbot.waitUntil(lambda: any("bad.onnx" in sentence for sentence in window.toasts.sentences))
    assert len(window.store.runner.executions) == 3, "nothing has ended yet"
    asked = []

    def answer(words):
        box = QApplication.activeModalWidget()
        if isinstance(box, QMessageBox):
            asked.append(f"{box.text()} {box.informativeText()}")
            next(button for button in box.buttons() if button.text() == words).click()

    QTimer.singleShot(200, lambda: answer("Keep running"))
    assert not window.close() and window.isVisible()
    assert (
        "zoNNscan radius sweep is still running and 2 more runs wait." in asked[0]
        and "stay queued" in asked[0]
    )
    QTimer.singleShot(200, lambda: answer("Stop and quit"))
    assert window.close()
    window.store.runner.stop_all()
    qtbot.waitUntil(lambda: not window.store.runner.busy)


def test_why_a_run_failed_goes_when_it_is_run_again(window, qtbot, monkeypatch):
    drop(window, resources.path("demo", "traffic_cnn.pt2"), resources.path("demo", "traffic"))
    use(qtbot, window)
    window.show_panel("zonnscan")
    known = window.store.analyses["zonnscan"]
    sound = known.engine

    def broken(classifier, dataset, params):
        raise ValueError("a wheel came off")
        yield

    object.__setattr__(known, "engine", broken)
    try:
        qtbot.mouseClick(window.run_pane.run, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(
            lambda: any("a wheel came off" in sentence for sentence in window.toasts.sentences),
        )
        qtbot.waitUntil(lambda: not window.store.runner.busy)
    finally:
        object.__setattr__(known, "engine", sound)
    qtbot.waitUntil(window.run_pane.run.isEnabled)
    qtbot.mouseClick(window.run_pane.run, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(
        lambda: (
            not any("a wheel came off" in sentence for sentence in window.toasts.sentences)
        ),  # by itself it stays for fifteen seconds
    )
    window.store.runner.stop_all()
    qtbot.waitUntil(lambda: not window.store.runner.busy)


def test_nothing_waits_for_a_report_that_is_being_written(window, qtbot, tmp_path, monkeypatch):
    history, hold = window.store.history, threading.Event()

    def slow(workspace, path, models):
        hold.wait(20)
        path.write_text(str(workspace.runs()), encoding="utf-8")

    monkeypatch.setattr("robgui.gui.state.history.exports.write_workspace_report", slow)
    history.exports.write_report(tmp_path / "slow.html")
    drop(window, resources.path("demo", "traffic"))
    idle(qtbot, window)
    assert window.store.library.dataset.name == "traffic" and window.store.writing.busy
    history.open(tmp_path / "other.robgui")
    qtbot.waitUntil(lambda: history.workspace.path.name == "other.robgui")
    hold.set()
    idle(qtbot, window)
    qtbot.waitUntil((tmp_path / "slow.html").exists)
    assert (tmp_path / "slow.html").read_text(encoding="utf-8") == "[]", (
        "it was read before its workspace was closed"
    )
