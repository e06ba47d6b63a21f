"""The inputs that a run has made are written from its panel and from the File menu."""

from __future__ import annotations

import json

import numpy as np
from PySide6.QtWidgets import QFileDialog, QPushButton

from robgui import resources
from robgui.gui.state.library.library import Opening


def test_the_panel_exports_the_corrupted_pictures_of_the_run_on_show(
    window, qtbot, tmp_path, monkeypatch
):
    store = window.store
    store.library.load_dataset(resources.path("demo", "fashion.npz"), quiet=True)
    store.library.load_model(Opening(resources.path("demo", "fashion_mlp.pt2"), quiet=True))
    qtbot.waitUntil(lambda: store.library.model is not None and not store.busy)
    window.show_panel("corruptions")
    assert not window.actions_["export_made"].isEnabled()
    quick = {"most": 6, "kinds": ("fog", "elastic"), "severities": (2,)}
    store.params_offered.emit("corruptions", quick)
    window.run_pane.run.click()
    panel = window.current_panel
    qtbot.waitUntil(lambda: panel.run_id is not None and not store.runner.busy)
    window.commands.refresh()
    assert window.actions_["export_made"].isEnabled()
    place = tmp_path / "set.npz"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(place), ""))
    buttons = {one.accessibleName(): one for one in panel.findChildren(QPushButton)}
    buttons["Export the corrupted pictures"].click()
    said = lambda: any("12 corrupted" in words for words in window.toasts.sentences)  # noqa: E731
    qtbot.waitUntil(said)
    with np.load(place) as file:
        assert file["x"].shape == (12, 1, 28, 28) and sorted(set(file["kind"])) == [
            "elastic",
            "fog",
        ]
    told = json.loads(place.with_name("set.manifest.json").read_text())
    assert told["accuracy"]["fog"]["2"] == panel.result.accuracy(0)[0, 0]
