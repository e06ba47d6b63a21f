"""The program as the desktop sees it: files that are double-clicked while it starts and while it
runs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QTabWidget

from robgui import resources
from robgui.gui.app.app import application, leave, open_window
from robgui.gui.panels import pages

ROOT = Path(__file__).parents[3]
#: In a process of its own, because a test run has a plain QApplication already. ``files``:
#: workspace, data, model.
DOUBLE_CLICKS = """
import sys, time
from pathlib import Path
from PySide6.QtCore import QCoreApplication, QUrl
from PySide6.QtGui import QFileOpenEvent
from robgui.gui.app.app import application, leave, open_window

workspace, data, model = sys.argv[1:]
app = application()
window = open_window()
store = window.store

def wait(until):
    end = time.monotonic() + 120
    while not until():
        assert time.monotonic() < end
        app.processEvents()
        time.sleep(0.005)

def idle():
    return store.history.workspace is not None and bool(store.analyses) and not (store.busy or store.keeping.busy)

for file in (data, workspace):
    assert QCoreApplication.sendEvent(app, QFileOpenEvent(file)), "taken before there is a window on screen"
window.show()
wait(idle)
wait(idle)
print(store.history.workspace.path.name, store.library.dataset.name, len(store.library.models))
assert QCoreApplication.sendEvent(app, QFileOpenEvent(QUrl.fromLocalFile(model)))
questions = window.commands.questions
wait(lambda: questions.dialog is not None and questions.dialog.use.isEnabled())
assert not store.library.models, "nothing is used before the dialog says so"
questions.dialog.use.click()
wait(lambda: store.library.models and idle())
print(store.library.model.name)
assert not QCoreApplication.sendEvent(app, QFileOpenEvent(QUrl("robgui://nothing"))), "an address is not a file"
window.close()
sys.exit(leave(window, 0))
"""


def test_double_clicked_files_are_opened_whether_the_window_is_there_already_or_not(tmp_path):
    files = [
        tmp_path / "mine.robgui",
        resources.path("demo", "fashion.npz"),
        resources.path("demo", "fashion_mlp.pt2"),
    ]
    done = subprocess.run(
        [sys.executable, "-c", DOUBLE_CLICKS, *map(str, files)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["mine.robgui fashion.npz 0", "fashion_mlp.pt2"]


def test_the_window_is_made_without_importing_what_only_pictures_and_models_need():
    heavy = ("torch", "onnxruntime", "scipy", "sklearn", "cv2", "matplotlib", "PIL")
    code = (
        "import sys; from robgui.gui.app.app import application, open_window; application();"
        f" window = open_window(); print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_panels_are_made_one_in_each_turn_of_the_event_loop(qtbot, tmp_path):
    application()
    window = open_window(tmp_path / "w.robgui")
    made: list[int] = []
    wanted = sum(len(page.analyses) for page in pages())

    def look() -> None:
        every = [window.pages.widget(number) for number in range(window.pages.count())]
        made.append(sum(tabs.count() for tabs in every if isinstance(tabs, QTabWidget)))
        if made[-1] < wanted:
            QTimer.singleShot(0, window, look)

    window.store.ready.connect(look)
    window.show()
    try:
        qtbot.waitUntil(lambda: bool(made) and made[-1] == wanted)
    finally:
        window.close()
        assert leave(window, 0) == 0
        window.deleteLater()
    assert len(set(made)) >= 15, "the window answers between any two of them"
