"""What the user says is written at once, whatever else hangs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import torch
from torch import nn

from robgui.core.execution.request import Request
from robgui.core.finding import Finding
from robgui.core.workspace import Workspace

#: A window in which a model never ends to load, a note and a star are made, and the window is
#: closed.
SESSION = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from robgui.core.trust.opening import code_of
from robgui.gui.app.app import application, leave, open_window
from robgui.gui.state.library.opening import Opening

folder = Path(sys.argv[1])
app = application()
window = open_window(folder / "w.robgui")
window.show()
store = window.store
settings = {"architecture": "nets.py:endless", "shape": (1, 4, 4)}

def look():
    if store.analyses and store.history.findings and not (folder / "hangs").exists() and not store.library.pending.loading:
        digest = code_of(folder / "net.pth", **settings)
        store.library.load_model(Opening(folder / "net.pth", settings=settings, trusted=digest, quiet=True))
    elif (folder / "hangs").exists():
        clock.stop()
        (finding,) = store.history.findings
        store.history.set_finding(finding, note="look at this", starred=True)
        window.close()
        app.quit()

clock = QTimer(interval=50)
clock.timeout.connect(look)
clock.start()
app.exec()
sys.exit(leave(window, 0))
"""
NETS = """
import pathlib, time

def endless():
    pathlib.Path({folder!r}, "hangs").touch()
    while True:
        time.sleep(0.1)
"""


def test_a_note_and_a_star_made_while_a_model_hangs_are_there_after_the_window_is_closed(
    tmp_path: Path,
):
    (tmp_path / "nets.py").write_text(NETS.format(folder=str(tmp_path)))
    torch.save(nn.Sequential(nn.Flatten(), nn.Linear(16, 3)).state_dict(), tmp_path / "net.pth")
    with Workspace.open(tmp_path / "w.robgui") as workspace:
        run = workspace.add_run(Request(analysis="zonnscan"))
        workspace.add_findings(run.id, [Finding("trap", "bad", 0.9)])
    command = [sys.executable, "-c", SESSION, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "hangs").exists(), done.stderr
    with Workspace.open(tmp_path / "w.robgui") as workspace:
        (finding,) = workspace.findings()
        assert (finding.note, finding.starred) == ("look at this", True)
