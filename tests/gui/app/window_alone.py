"""The real window in a process of its own: what it imports, how much memory it takes, how soon it
draws. Run as a module; prints JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from robgui import resources

PATIENCE = 300.0


def memory(pid: str = "self") -> float:
    """Megabytes that a process holds."""
    pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * 4096 / 1e6


def main() -> None:
    """Opens model and data of the demo, runs a sweep and a map, looks at everything on the way."""
    from PySide6.QtTest import QTest

    from robgui.gui.app.app import application, leave, open_window
    from robgui.gui.state.library.opening import Opening

    began = time.monotonic()
    application()
    window = open_window(Path(tempfile.mkdtemp()) / "w.robgui")
    window.show()
    store = window.store
    seen: dict[str, object] = {}
    said: list[str] = []
    store.said.connect(lambda level, sentence, _: said.append(f"{level}: {sentence}"))

    def wait(condition, what):
        end = time.monotonic() + PATIENCE
        while not condition():
            QTest.qWait(5)
            if time.monotonic() > end:
                sys.exit(f"waited in vain for {what}: {said}")

    wait(lambda: bool(store.analyses) and store.history.workspace is not None, "the window")
    seen["ready"] = time.monotonic() - began
    wait(lambda: bool(store.library.devices), "the process for models")
    seen["warm"] = time.monotonic() - began
    seen["memory_empty"] = memory()
    store.library.load_dataset(resources.path("demo", "fashion.npz"))
    store.library.load_model(Opening(resources.path("demo", "fashion_cnn.safetensors"), quiet=True))
    wait(lambda: store.library.model is not None and not store.busy, "model and data")
    predictions = store.library.predictions
    wait(lambda: len(predictions.classes) and (predictions.classes >= 0).all(), "predictions")
    small = {
        "zonnscan": {"samples": 64, "radii": (0.0, 0.1)},
        "semantic_map": {"axes": ("rotation",), "step": {"rotation": 60.0}},
    }
    for analysis, settings in small.items():
        window.show_panel(analysis)
        wait(lambda: store.next_run.request(analysis) is not None, "the form")  # noqa: B023
        known = store.analyses[analysis]
        params = known.params.parse({**store.next_run.params[analysis].model_dump(), **settings})
        asked = time.monotonic()
        execution = store.submit(store.next_run.build(known, params, store.selection.inputs))
        wait(lambda: execution.newest is not None, "a picture")  # noqa: B023
        seen[f"{analysis}_first"] = time.monotonic() - asked
        wait(lambda: not store.runner.busy and not store.pictures.busy, analysis)
        seen[f"{analysis}_state"] = execution.state.value
        seen[f"{analysis}_error"] = execution.error
    dialog_of(window, wait)
    seen["memory_models"] = sum(memory(str(pid)) for pid in store.processes.pids)
    seen["memory_full"] = memory()
    seen["foreign"] = sorted({"torch", "onnxruntime", "sklearn"} & set(sys.modules))
    seen["said"] = said
    window.close()
    seen["exit"] = leave(window, 0)
    print(json.dumps(seen))


def dialog_of(window, wait) -> None:
    """Opens the dialog of the model and waits until it has measured the accuracy."""
    window.commands.check_model()
    dialog = window.commands.questions.dialog
    wait(lambda: "right on" in dialog.verdict.text(), "the accuracy")
    dialog.reject()


if __name__ == "__main__":
    main()
