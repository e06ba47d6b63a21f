"""What the model looks at in a finding, before and after, from its page and from the menu."""

from __future__ import annotations

from robgui.core.dataset import open_dataset
from robgui.core.execution.request import build_request
from robgui.core.loading import load
from robgui.core.view import Images
from tests.batch.guards import lights


def test_one_click_shows_what_the_model_looks_at_before_and_after(window, qtbot, tmp_path):
    store, history = window.store, window.store.history
    model = lights.write_model(tmp_path / "old.onnx", 0.6)
    data = lights.write_data(tmp_path / "data", [10, 130, 158, 250])
    history.workspace.add_run(build_request("zonnscan", [load(model)], open_dataset(data), {}))
    number = lights.add(history.workspace, 2, lights.uniform(0.59), "light", "dark")
    with qtbot.waitSignal(history.findings_changed):
        history.refresh()
    assert not window.actions_["look"].isEnabled()
    (finding,) = history.findings
    window.show_findings(finding)
    assert store.selection.finding == number
    qtbot.waitUntil(window.actions_["look"].isEnabled)
    assert window.findings.view.looks.isEnabled()
    window.findings.view.looks.click()
    qtbot.waitUntil(lambda: window.commands.evidence.seen is not None)
    dialog = window.commands.evidence.seen
    shown = dialog.picture.view
    assert isinstance(shown, Images) and shown.title == "What speaks for “light”"
    ways = shown.columns
    assert [one.caption for one in shown.pictures[::ways]] == [
        "the picture before",
        "the picture after",
    ]
    assert [one.chip for one in shown.pictures[::ways]] == ["light", "dark"]
    assert [one.caption for one in shown.pictures[1::ways]] == ["covering", "covering"]
    assert dialog.words.text().startswith("In the picture before “light”")
    assert "In the picture after" in dialog.words.text()
    assert "not whether it is right" in dialog.reasons.text()
    dialog.close()
