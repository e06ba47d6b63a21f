"""Starred findings become tests from the File menu."""

from __future__ import annotations

from PySide6.QtWidgets import QFileDialog

from robgui.batch.guards import guard_suite
from robgui.core.dataset import open_dataset
from robgui.core.execution.request import build_request
from robgui.core.loading import load
from tests.batch.guards import lights


def test_the_menu_writes_a_suite_of_the_starred_findings(window, qtbot, tmp_path, monkeypatch):
    store, history = window.store, window.store.history
    model = lights.write_model(tmp_path / "old.onnx", 0.6)
    data = lights.write_data(tmp_path / "data", [10, 130, 150, 250])
    history.workspace.add_run(build_request("zonnscan", [load(model)], open_dataset(data), {}))
    number = lights.add(
        history.workspace, 1, lights.uniform(130 / 255), "light", "dark", star=False
    )
    with qtbot.waitSignal(history.findings_changed):
        history.refresh()
    window.commands.refresh()
    assert not window.actions_["make_tests"].isEnabled()
    history.workspace.set_finding(number, starred=True)
    with qtbot.waitSignal(history.findings_changed):
        history.refresh()
    qtbot.waitUntil(window.actions_["make_tests"].isEnabled)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path / "out"))
    window.actions_["make_tests"].trigger()
    qtbot.waitUntil((tmp_path / "out" / "suite.json").exists)
    qtbot.waitUntil(lambda: not store.busy)
    suite = guard_suite(tmp_path / "out")
    assert [case.expected for case in suite.findings] == ["light"]
    assert {case.expected for case in suite.guarded} == {"dark", "light"}
    said = "Tests written: 1 finding, 0 originals and "
    qtbot.waitUntil(lambda: any(said in sentence for sentence in window.toasts.sentences))


def test_one_click_explains_the_chosen_finding_and_its_sentences_lead_to_pictures(
    window, qtbot, tmp_path, monkeypatch
):
    from robgui.gui.state.evidence import explaining

    store, history = window.store, window.store.history
    model = lights.write_model(tmp_path / "old.onnx", 0.6)
    data = lights.write_data(tmp_path / "data", [10, 130, 158, 250])
    history.workspace.add_run(build_request("zonnscan", [load(model)], open_dataset(data), {}))
    number = lights.add(history.workspace, 2, lights.uniform(0.59), "light", "dark")
    with qtbot.waitSignal(history.findings_changed):
        history.refresh()
    assert not window.actions_["post_mortem"].isEnabled()
    store.select(store.selection.replace(finding=number))
    assert window.actions_["post_mortem"].isEnabled()
    monkeypatch.setattr(explaining.explain, "__defaults__", (0.0,))
    window.actions_["post_mortem"].trigger()
    qtbot.waitUntil(lambda: window.commands.evidence.explained is not None)
    dialog = window.commands.evidence.explained
    words = dialog.text.toPlainText()
    assert "takes “light” for “dark”" in words and "Likely cause:" in words
    assert dialog.picture is not None and "<a href" in dialog.text.toHtml()
    dialog.close()


def test_the_window_says_fixed_still_and_new_as_the_command_line_does(
    window, qtbot, tmp_path, monkeypatch, capsys
):
    """Light from 0.6 on had 130/255 wrong; from 0.45 on it is right, and 120/255 is not."""
    from robgui.cli import main
    from robgui.gui.state.library.opening import Opening

    store, history = window.store, window.store.history
    model = lights.write_model(tmp_path / "old.onnx", 0.6)
    new = lights.write_model(tmp_path / "new.onnx", 0.45)
    data = lights.write_data(tmp_path / "data", [10, 120, 130, 150, 250])
    history.workspace.add_run(build_request("zonnscan", [load(model)], open_dataset(data), {}))
    lights.add(history.workspace, 2, lights.uniform(130 / 255), "light", "dark")
    with qtbot.waitSignal(history.findings_changed):
        history.refresh()
    folder = tmp_path / "out"
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(folder))
    assert not window.actions_["check_tests"].isEnabled(), "there is no model yet"
    window.actions_["make_tests"].trigger()
    qtbot.waitUntil((folder / "suite.json").exists)
    store.library.load_model(Opening(new, quiet=True))
    qtbot.waitUntil(lambda: not store.busy)
    window.actions_["check_tests"].trigger()
    dialog = window.commands.evidence.check
    qtbot.waitUntil(lambda: dialog.checked is not None)
    assert dialog.summary.text() == "fixed 1, still 0, new 1"
    words = [(one.caption, one.chip, one.right) for one in dialog.board.widgets[0].view.pictures]
    assert words == [("new: dark", "light", False), ("fixed: was dark", "light", True)]
    capsys.readouterr()
    assert main(["check", str(folder), "--model", str(new)]) == 1
    assert dialog.summary.text() in capsys.readouterr().out
    dialog.close()


def test_a_folder_without_tests_is_one_sentence_in_the_dialog(window, qtbot, tmp_path, monkeypatch):
    from robgui.gui.state.library.opening import Opening

    model = lights.write_model(tmp_path / "old.onnx", 0.6)
    window.store.library.load_model(Opening(model, quiet=True))
    qtbot.waitUntil(lambda: not window.store.busy)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path))
    window.actions_["check_tests"].trigger()
    dialog = window.commands.evidence.check
    qtbot.waitUntil(lambda: dialog.summary.text() == "Not checked")
    assert "there is no guard suite to read" in dialog.scope.text()
    assert dialog.checked is None and not dialog.board.isVisible()
    dialog.close()


def test_the_page_of_a_slice_leads_to_the_findings_on_its_inputs_and_those_to_their_cause(
    window, qtbot, tmp_path
):
    from robgui.core.finding import Finding
    from robgui.gui.widgets.elided import ElidedLink

    history = window.store.history
    model = lights.write_model(tmp_path / "old.onnx", 0.6)
    data = lights.write_data(tmp_path / "data", [10, 130, 140, 150, 250])
    run = history.workspace.add_run(
        build_request("accuracy", [load(model)], open_dataset(data), {})
    )
    for place in (1, 3):
        lights.add(history.workspace, place, lights.uniform(0.5 + place / 100), "light", "dark")
    detail = {"slice": "the darker half", "inputs": [1, 2], "wrong": 2}
    history.workspace.add_findings(run.id, [Finding("slice", "Weak slice", 0.1, detail)])
    with qtbot.waitSignal(history.findings_changed):
        history.refresh()
    qtbot.waitUntil(lambda: len(history.runs) == 1)
    window.show_findings()
    findings = window.findings
    findings.open(next(one for one in history.findings if one.kind == "slice"))
    assert not findings.view.cause.isEnabled(), "it is about no single input"
    links = findings.view.findChildren(ElidedLink)
    assert len(links) == 1, "the finding on the input that lies in the slice"
    links[0].click()
    assert findings.view.finding.places == (1,) and findings.view.cause.isEnabled()
    with qtbot.waitSignal(findings.wants_cause):
        row = findings.model.row_of(findings.view.finding.id)
        menu = findings.menu(row)
        next(one for one in menu.actions() if one.text().startswith("Post-mortem")).trigger()
    qtbot.waitUntil(lambda: window.commands.evidence.explained is not None)
    window.commands.evidence.explained.close()
