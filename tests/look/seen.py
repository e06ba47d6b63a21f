"""Seen: the demo runs that the pictures are drawn from, computed once and kept in a folder."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from robgui.core.execution.analysis import Analysis, Demo
from robgui.core.execution.execution import Execution
from robgui.gui.app.main_window import MainWindow
from robgui.gui.show.demo import choose

#: A run is stopped, and its live picture is taken, when it is this far.
PART = 0.35
#: The run of the compare page: another model of the same data, else another input or another seed.
OTHER_MODELS = {
    "fashion_cnn.safetensors": "fashion_mlp.pt2",
    "fashion_mlp.pt2": "fashion_cnn.safetensors",
    "table_mlp.onnx": "table_forest.skops",
}
Wait = Callable[[Callable[[], bool], str], None]


class Seen:
    """Runs of each analysis: ``done``, ``stopped`` and ``other``, and a Step on the way.

    Args:
        folder: Where they are kept.
        window: A real window with the demo open.
        wait: Runs the event loop until something holds.
    """

    def __init__(self, folder: Path, window: MainWindow, wait: Wait) -> None:
        self._folder, self._window, self._wait = folder, window, wait
        self._list = folder / "runs.json"
        kept = json.loads(self._list.read_text()) if self._list.exists() else {}
        self.runs: dict[str, dict[str, str]] = kept

    def compute(self, known: Analysis) -> None:
        """Runs an analysis three times, as a user would; does nothing if that was done before."""
        if known.name in self.runs or known.demo is None:
            return
        ids = {"stopped": self.run(known, known.demo, part=True)}
        ids["other"] = self.run(known, _other(known.demo, known))
        ids["done"] = self.run(known, known.demo)
        self.runs[known.name] = ids
        self._list.write_text(json.dumps(self.runs, indent=1))

    def live(self, name: str) -> tuple[Any, Any, str]:
        """Request, result and note of the Step on the way."""
        found: tuple[Any, Any, str] = pickle.loads(self._live(name).read_bytes())
        return found

    def _live(self, name: str) -> Path:
        return self._folder / f"live-{name}.pickle"

    def run(self, known: Analysis, demo: Demo, *, part: bool = False) -> str:
        """Chooses what a demo looks at, presses Run and waits; the id of the run."""
        store = self._window.store
        if not choose(store, demo):
            raise SystemExit(f"{demo.model} or {demo.data} could not be loaded.")
        self._wait(lambda: not store.busy, demo.model)
        self._window.show_panel(known.name)
        store.params_offered.emit(known.name, dict(demo.params))
        if obstacle := store.next_run.obstacle(known.name):
            raise SystemExit(f"{known.name} on {demo.model}: {obstacle}")
        self._window.run_pane.run.click()
        self._wait(lambda: store.runner.active is not None, "the run")
        execution = store.runner.active
        assert execution is not None
        if part:
            self._wait(lambda: execution.state.ended or _far(execution), known.name)
            self._keep_live(execution)
            self._window.run_pane.stop.click()
        self._wait(lambda: not store.runner.busy and not store.busy, known.name)
        if execution.newest is None:
            raise SystemExit(f"{known.name} on {demo.model}: {execution.error}")
        kept = lambda: any(run.id == execution.run_id for run in store.history.runs)  # noqa: E731
        self._wait(kept, "the history")
        return execution.run_id or ""

    def _keep_live(self, execution: Execution) -> None:
        step = execution.newest
        assert step is not None
        kept = (execution.request, step.result, step.note)
        self._live(execution.analysis.name).write_bytes(pickle.dumps(kept))


def _far(execution: Execution) -> bool:
    """Whether there is a picture, and enough behind it."""
    if execution.newest is None:
        return False
    total = execution.total
    return execution.done >= PART * total if total else execution.seconds > 2


def _other(demo: Demo, known: Analysis) -> Demo:
    """What the compare page lays beside the demo."""
    if demo.model in OTHER_MODELS and not known.several_models:
        return replace(demo, model=OTHER_MODELS[demo.model])
    if demo.index is not None:
        return replace(demo, index=demo.index + 1)
    return replace(demo, params={**demo.params, "seed": 1})
