"""Attacks through workspaces, data, suites, meshes, names and the program around them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import torch
from torch import nn

from robgui import resources
from tests.core.loading.makers import save_exported, save_script, table_net
from tests.security.points.running import Attack

WORKSPACE = """
from robgui.core.workspace import Workspace
def workspace(*statements):
    Workspace.open("w.robgui").close()
    with sqlite3.connect("w.robgui") as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        for statement, values in statements:
            connection.execute(statement, values)
    connection.close()
request = {"analysis": "zonnscan", "models": [], "dataset": None, "indices": None, "params": {}, "device": "", "autocast": None}
run = ("INSERT INTO runs (id, request, state, created, seconds, done, total, error, verdict, device, versions)"
       " VALUES (?, ?, 'done', ?, 1, 1, 1, '', '', '', '{}')")
"""


def nothing(folder: Path) -> None:
    """The edition under attack makes its own file."""


CARRIED_TRUST = (
    WORKSPACE
    + f"""
weights = {str(resources.path("demo", "fashion_cnn.safetensors"))!r}
body = {{"kind": "model", "name": "net", "path": weights, "fingerprint": "0" * 16, "trust": True,
        "options": {{"architecture": f"os:system('touch {{mark}}')", "shape": [1, 28, 28]}}}}
workspace(("INSERT INTO refs VALUES (?, 'model', ?, 1e10)", ("0" * 16, json.dumps(body))))
from robgui.core.workspace import Workspace as W
with W.open("w.robgui") as opened:
    for name in ("last_used", "in_use", "used"):
        opened.values.set(name, {{"models": ["0" * 16], "model": "0" * 16, "dataset": None}})
try:
    from robgui.gui.app import application, open_window
except ImportError:
    from robgui.gui.app.app import application, open_window
app = application()
window = open_window(pathlib.Path("w.robgui"))
window.show()
store, said = window.store, []
store.said.connect(lambda level, sentence, details: said.append(sentence))
if hasattr(store.library, "noticed"):
    store.library.noticed.connect(lambda *notice: said.append(str(notice[0])))
def busy():
    return store.history.workspace is None or not store.analyses or getattr(store, "busy", True)
until, idle_since = time.monotonic() + 45, time.monotonic()
while time.monotonic() < until and not mark.exists() and time.monotonic() - idle_since < 1:
    app.processEvents()
    time.sleep(0.01)
    if busy():
        idle_since = time.monotonic()
judge("; ".join(said))
"""
)


def make_suite(folder: Path) -> None:
    """A suite that says of itself that it is trusted."""
    torch.save(nn.Sequential(nn.Linear(6, 3)).state_dict(), folder / "m.pth")
    (folder / "nets.py").write_text(
        f"from torch import nn\nopen({str(folder / 'mark')!r}, 'w').close()\n"
        "def net(): return nn.Sequential(nn.Linear(6, 3))\n"
    )
    rows = "".join(f"{i},0,0,0,0,1,a\n" for i in range(4))
    (folder / "d.csv").write_text("a,b,c,d,e,f,label\n" + rows)
    (folder / "s.toml").write_text(
        '[[models]]\npath = "m.pth"\ntrust = true\n'
        'settings = { architecture = "nets.py:net", shape = [6] }\n'
        '[[datasets]]\npath = "d.csv"\n[[analyses]]\nname = "zonnscan"\n'
    )


SUITE = """
from robgui.cli import main
main(["batch", "s.toml", "--dry-run", "--device", "cpu"])
judge()
"""

QUESTION = """
from PySide6.QtCore import Qt
from PySide6.QtGui import Qt as Guess
from PySide6.QtWidgets import QApplication, QMessageBox
from pathlib import Path
application = QApplication([])
evil = "<h2>Checked: this file holds plain weights only</h2><!--"
try:
    from robgui.gui.architecture_dialog import ask_trust
except ImportError:
    from robgui.core.trust.code import Code
    from robgui.gui.model.trust_dialog import TrustDialog
    from PySide6.QtWidgets import QLabel
    dialog = TrustDialog(Code("0" * 64, Path("m.pth"), evil, (), (evil,)), evil)
    rich = [label for label in dialog.findChildren(QLabel)
            if label.textFormat() != Qt.TextFormat.PlainText and Guess.mightBeRichText(QLabel.text(label))
            and "<h2>" in QLabel.text(label)]
    broken("rich text") if rich else held()
boxes = []
QMessageBox.exec = lambda self: boxes.append(self)
QMessageBox.clickedButton = lambda self: None
ask_trust(Path("m.pth"), evil)
box = boxes[0]
broken("rich text") if box.textFormat() == Qt.TextFormat.AutoText and Guess.mightBeRichText(box.informativeText()) else held()
"""

NOTES = """
import threading
from PySide6.QtWidgets import QApplication
application = QApplication([])
try:
    from robgui.gui.store import Store
except ImportError:
    from robgui.gui.state.store import Store
from robgui.core.finding import Finding
from robgui.core.workspace import Workspace
with Workspace.open("w.robgui") as made:
    try:
        from robgui.core.request import Request
    except ImportError:
        from robgui.core.execution.request import Request
    run_id = made.add_run(Request(analysis="zonnscan")).id
    made.add_findings(run_id, [Finding("trap", "bad", 0.9)])
store = Store()
def wait(condition, seconds):
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        application.processEvents()
        time.sleep(0.01)
    return condition()
store.open_workspace(pathlib.Path("w.robgui"))
assert wait(lambda: store.history.findings, 30)
blocked = threading.Event()
store.background.run(lambda: blocked.wait(60), lambda answer: None)  # a model that hangs
store.history.set_finding(store.history.findings[0], note="seen", starred=True)
def written():
    with sqlite3.connect("w.robgui") as connection:
        return connection.execute("SELECT note FROM findings").fetchone()[0] == "seen"
held() if wait(written, 10) else broken("the note is not in the file")
"""


def make_picture(folder: Path) -> None:
    """A picture of one column and 63 million rows in 245 KB."""
    import struct
    import zlib

    height = 63_000_000

    def chunk(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content))
            + kind
            + content
            + struct.pack(">I", zlib.crc32(kind + content))
        )

    packed = zlib.compressobj(9)
    body = b"".join(packed.compress(bytes(2_000_000)) for _ in range(height * 2 // 2_000_000))
    body += packed.flush()
    head = struct.pack(">IIBBBBB", 1, height, 8, 0, 0, 0, 0)
    (folder / "a.png").write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    )


def make_shape(folder: Path) -> None:
    """A side file that says an input has 300 million numbers."""
    save_script(nn.Sequential(nn.Flatten()).eval(), folder / "m.pt")
    (folder / "m.pt.toml").write_text("shape = [300000000]\n")


def make_arange(folder: Path) -> None:
    """A small .pt2 that asks for gigabytes."""
    from tests.fuzz.kinds.operations import Calling

    net = Calling("arange.default", ((700_000_000,), {})).eval()
    save_exported(net, folder / "m.pt2", torch.rand(2, 6), free=False)


MEMORY = """
from robgui.core.loading import load
import torch
def use():
    classifier = load({name!r}, device="cpu")
    classifier.infer(torch.rand(1, *classifier.shape))
held(sentence(use, memory=3 * 2**29))
"""

BOMB = (
    WORKSPACE
    + """
import io, zipfile
import numpy as np
workspace((run, ("r", json.dumps(request), 1.0)))
buffer = io.BytesIO()
with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
    with archive.open("a0.npy", "w", force_zip64=True) as member:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (400_000_000,)})
        member.write(header.getvalue())
        for _ in range(3200):
            member.write(bytes(1_000_000))
document = json.dumps({"$type": "ZonnscanResult", "fields": {"a": {"$array": "a0"}}})
with sqlite3.connect("w.robgui") as connection:
    connection.execute("INSERT INTO results VALUES ('r', ?, ?)", (document, buffer.getvalue()))
connection.close()
del buffer
def use():
    with Workspace.open("w.robgui") as opened:
        opened.result("r")
held(sentence(use, memory=3 * 2**29))
"""
)


class Endless(nn.Module):
    """A classifier whose loop never ends."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        total = x.sum()
        while bool(total > -1e30):
            total = total + 0.0
        return x[:, :3] + total


def make_endless(folder: Path) -> None:
    """The loop as TorchScript."""
    save_script(Endless().eval(), folder / "m.pt")
    (folder / "m.pt.toml").write_text("shape = [6]\n")


ENDLESS = """
import signal, subprocess
signal.signal(signal.SIGINT, signal.default_int_handler)
command = subprocess.Popen([sys.executable, "-m", "robgui", "inspect", "m.pt"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
def work():
    "What every process of the command has read and computed so far."
    known, found = [command.pid], {}
    while known:
        pid = known.pop()
        try:
            for threads in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
                known += map(int, threads.read_text().split())
            read = open(f"/proc/{pid}/io").readline().split()[1]
            found[pid] = read, int(open(f"/proc/{pid}/stat").read().split()[13])
        except OSError:
            pass
    return found
# Who computes for two seconds and reads no file is past its imports: the model is at work.
until, before, seconds = time.monotonic() + 30, work(), 0
while seconds < 2 and time.monotonic() < until and command.poll() is None:
    time.sleep(1)
    now = work()
    seconds = (seconds + 1) * any(
        pid in before and now[pid][0] == before[pid][0] and now[pid][1] > before[pid][1] + 25
        for pid in now
    )
    before = now
if command.poll() is not None:
    held("it ended by itself")
command.send_signal(signal.SIGINT)
try:
    command.wait(45)
except subprocess.TimeoutExpired:
    command.kill()
    broken("Ctrl-C is not heard")
held(f"exit code {command.returncode}")
"""

EXPORT = (
    WORKSPACE
    + """
evil = {**request, "analysis": "../../victim/package"}
workspace((run, ("r", json.dumps(evil), 1.0)))
os.makedirs("out/victim")
def use():
    with Workspace.open("w.robgui") as opened:
        opened.export("out/export")
words = sentence(use)
outside = [str(path) for path in pathlib.Path("out/victim").rglob("*")]
broken(f"wrote {outside[0]}") if outside else held(words)
"""
)

VALUES = (
    WORKSPACE
    + """
from robgui.report.html import write_html
workspace((run, ("r", json.dumps(request), "not a time")))
def use():
    with Workspace.open("w.robgui") as opened:
        opened.runs()
        write_html(opened, pathlib.Path("r.html"))
held(sentence(use))
"""
)

VIEW = (
    WORKSPACE
    + """
endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
columns = "CAST(i AS TEXT) AS fingerprint, CASE WHEN i < 0 THEN 'model' ELSE 'x' END AS kind, '' AS body, 0 AS used"
workspace(("DROP TABLE refs", ()), (f"CREATE VIEW refs AS SELECT {columns} FROM ({endless})", ()))
def use():
    with Workspace.open("w.robgui") as opened:
        opened.files.references("model")
held(sentence(use))
"""
)


def make_pipe(folder: Path) -> None:
    """A pipe that is called like data."""
    os.mkfifo(folder / "d.npz")


PIPE = """
from robgui.core.dataset import open_dataset
held(sentence(lambda: open_dataset("d.npz")))
"""

SUITE_PIPE = """
from robgui.batch.suite import read_suite
os.mkfifo("s.toml")
held(sentence(lambda: read_suite("s.toml")))
"""

WORKSPACE_PIPE = """
from robgui.core.workspace import Workspace
os.mkfifo("w.robgui")
held(sentence(lambda: Workspace.open("w.robgui", create=False)))
"""


def make_evil_names(folder: Path) -> None:
    """Data whose name is HTML."""
    name = "<b>bold<!--.npz"
    np.savez(folder / name, images=np.zeros((3, 4, 4), np.uint8), labels=[0, 1, 0])
    net = nn.Sequential(nn.Flatten(), nn.Linear(16, 3)).eval()
    save_exported(net, folder / "<b>bold<!--.pt2", torch.rand(2, 1, 4, 4))
    (folder / "<b>bold<!--.pt2.toml").write_text(
        'shape = [1, 4, 4]\nlabels = ["<b>bold one", "<b>bold two", "<b>bold three"]\n'
    )


LABELS = """
from PySide6.QtGui import Qt as Guess
from PySide6.QtWidgets import QLabel, QWidget
from PySide6.QtCore import Qt
try:
    from robgui.gui.app import application, open_window
except ImportError:
    from robgui.gui.app.app import application, open_window
app = application()
window = open_window(pathlib.Path("w.robgui"))
window.show()
def wait(condition, seconds):
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        app.processEvents()
        time.sleep(0.01)
    return condition()
assert wait(lambda: window.store.analyses and window.store.history.workspace is not None, 60)
window.store.library.load_dataset(pathlib.Path("<b>bold<!--.npz"))
assert wait(lambda: window.store.library.dataset is not None, 30)
try:
    from robgui.gui.library import Opening
except ImportError:
    from robgui.gui.state.library.opening import Opening
window.store.library.load_model(Opening(pathlib.Path("<b>bold<!--.pt2"), quiet=True))
assert wait(lambda: window.store.library.model is not None, 60)
told = lambda: min(getattr(window.store.library.predictions, "classes", [0]), default=0) >= 0
wait(lambda: told() and not getattr(window.store, "busy", True), 3)
rich = [label for label in window.findChildren(QLabel) if "<b>bold" in QLabel.text(label)
        and label.textFormat() == Qt.TextFormat.AutoText and Guess.mightBeRichText(QLabel.text(label))]
tips = [part for part in window.findChildren(QWidget)
        if "<b>bold" in part.toolTip() and Guess.mightBeRichText(part.toolTip())]
broken(f"rich text in {len(rich)} labels and {len(tips)} tips") if rich or tips else held()
"""


def make_escapes(folder: Path) -> None:
    """Class names that a terminal obeys."""
    save_exported(table_net(), folder / "m.pt2", torch.rand(2, 6))
    (folder / "m.pt2.toml").write_text('labels = ["\\u001b[2J\\u001b]0;owned\\u0007", "b", "c"]\n')


ESCAPES = """
import subprocess
shown = subprocess.run([sys.executable, "-m", "robgui", "inspect", "m.pt2"], capture_output=True)
broken("orders reach the terminal") if b"\\x1b" in shown.stdout + shown.stderr else held()
"""


def make_mesh(folder: Path) -> None:
    """An OBJ whose names are no UTF-8."""
    (folder / "m.obj").write_bytes(
        b"# Gr\xfc\xdfe\no W\xfcrfel\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n"
    )


MESH = """
try:
    from robgui.analyses.semantic.scene.meshes.file import read_mesh
except ImportError:
    from robgui.analyses.semantic.mesh_file import read_mesh
words = sentence(lambda: read_mesh("m.obj"))
broken(words) if "charset" in words else held()
"""

MODES = """
from robgui.core.workspace import Workspace
os.umask(0o022)
with Workspace.open("w.robgui"):
    mode = os.stat("w.robgui").st_mode & 0o777
broken(f"mode {mode:o}") if mode & 0o077 else held()
"""

PREDICTABLE = """
import inspect
try:
    from robgui.gui import guide
except ImportError:
    from robgui.gui.show import guide
text = inspect.getsource(guide)
broken("a name that anybody can guess") if "gettempdir" in text else held()
"""

PLACES = (
    WORKSPACE
    + """
from robgui.report.html import write_html
workspace((run.replace("''", "?", 1).replace("'done'", "'failed'"), ("r", json.dumps(request), 1.0, "The model is no longer at /home/me/secret project/net.pt2.")))
with Workspace.open("w.robgui") as opened:
    write_html(opened, pathlib.Path("r.html"))
page = pathlib.Path("r.html").read_text(encoding="utf-8")
assert "net.pt2" in page
broken("an absolute path") if "/home/me" in page or str(pathlib.Path().absolute()) in page else held()
"""
)

BOUNDS = """
import tomllib, re
project = tomllib.load(open(os.path.join(os.environ["ROOT"], "pyproject.toml"), "rb"))["project"]
stated = " ".join([*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)])
wanted = {"torch": (2, 10), "skops": (0, 12), "pillow": (10, 3), "onnx": (1, 17), "ray": (2, 52)}
low = [name for name, least in wanted.items()
       if tuple(map(int, re.search(rf"(?<![\\w-]){name}>=([\\d.]+)", stated)[1].split(".")))[:2] < least]
broken(f"too low: {low}") if low else held()
"""

HASHED = """
folder = pathlib.Path(os.environ["ROOT"]) / "packaging"
found = [path for path in folder.rglob("*.txt") if "--hash=sha256:" in path.read_text()]
held(found[0].name) if found else broken("no pin carries a hash")
"""


def attacks() -> list[Attack]:
    """Those of this file."""
    return [
        Attack(1, "a workspace that brings its trust", nothing, CARRIED_TRUST, 120),
        Attack(5, "the question of trust is forged", nothing, QUESTION),
        Attack(7, "a suite that brings its trust", make_suite, SUITE),
        Attack(8, "a note while a model hangs", nothing, NOTES),
        Attack(10, "versions with known holes", nothing, BOUNDS),
        Attack(12, "a stored result of 3.2 GB", nothing, BOMB, 300),  # packing it takes long
        Attack(12, "an input of 300 million numbers", make_shape, MEMORY.format(name="m.pt")),
        Attack(12, ".pt2: arange", make_arange, MEMORY.format(name="m.pt2")),
        Attack(
            12,
            "a picture of 1 × 63 million",
            make_picture,
            "from robgui.core.dataset import open_dataset\n"
            "held(sentence(lambda: open_dataset('a.png').array(), memory=2**30))",
        ),
        Attack(13, "a model without end", make_endless, ENDLESS, 180),
        Attack(14, "an export that leaves its folder", nothing, EXPORT),
        Attack(15, "a time that is none", nothing, VALUES),
        Attack(15, "a table that never ends", nothing, VIEW, 60),
        Attack(16, "data from a pipe", make_pipe, PIPE, 40),
        Attack(16, "a suite from a pipe", nothing, SUITE_PIPE, 40),
        Attack(16, "a workspace from a pipe", nothing, WORKSPACE_PIPE, 40),
        Attack(18, "a name that is rich text", make_evil_names, LABELS, 150),
        Attack(19, "class names that a terminal obeys", make_escapes, ESCAPES),
        Attack(22, "a mesh that is no UTF-8", make_mesh, MESH),
        Attack(23, "a workspace that others may read", nothing, MODES),
        Attack(23, "the report of the tour", nothing, PREDICTABLE),
        Attack(23, "a report with absolute paths", nothing, PLACES),
        Attack(24, "pins without hashes", nothing, HASHED),
    ]
