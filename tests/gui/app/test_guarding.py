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
    with qtbot.waitSignal(history.findings_changed, timeout=10_000):
        history.refresh()
    window.commands.refresh()
    assert not window.actions_["make_tests"].isEnabled()
    history.workspace.set_finding(number, starred=True)
    with qtbot.waitSignal(history.findings_changed, timeout=10_000):
        history.refresh()
    qtbot.waitUntil(window.actions_["make_tests"].isEnabled, timeout=5_000)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path / "out"))
    window.actions_["make_tests"].trigger()
    qtbot.waitUntil((tmp_path / "out" / "suite.json").exists, timeout=60_000)
    qtbot.waitUntil(lambda: not store.busy, timeout=60_000)
    suite = guard_suite(tmp_path / "out")
    assert [case.expected for case in suite.findings] == ["light"]
    assert {case.expected for case in suite.guarded} == {"dark", "light"}
    assert any(
        "Tests written: 1 finding, 0 originals and " in sentence
        for sentence in window.toasts.sentences
    )


def test_one_click_explains_the_chosen_finding_and_its_sentences_lead_to_pictures(
    window, qtbot, tmp_path, monkeypatch
):
    from robgui.gui.state.evidence import explaining

    store, history = window.store, window.store.history
    model = lights.write_model(tmp_path / "old.onnx", 0.6)
    data = lights.write_data(tmp_path / "data", [10, 130, 158, 250])
    history.workspace.add_run(build_request("zonnscan", [load(model)], open_dataset(data), {}))
    number = lights.add(history.workspace, 2, lights.uniform(0.59), "light", "dark")
    with qtbot.waitSignal(history.findings_changed, timeout=10_000):
        history.refresh()
    assert not window.actions_["post_mortem"].isEnabled()
    store.select(store.selection.but(finding=number))
    assert window.actions_["post_mortem"].isEnabled()
    monkeypatch.setattr(explaining.explain, "__defaults__", (0.0,))
    window.actions_["post_mortem"].trigger()
    qtbot.waitUntil(lambda: window.commands.explained is not None, timeout=60_000)
    dialog = window.commands.explained
    words = dialog.text.toPlainText()
    assert "takes “light” for “dark”" in words and "Likely cause:" in words
    assert dialog.picture is not None and "<a href" in dialog.text.toHtml()
    dialog.close()
