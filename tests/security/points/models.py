"""Attacks through model files and what lies beside them: points 2, 3, 4, 6, 9, 11, 17, 20, 21."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import nn

from tests.core.loading.makers import save_exported, save_script, table_net
from tests.security.points.running import Attack

LOAD = """
from robgui.core.loading import load
import torch
def use(**settings):
    classifier = load({name!r}, device="cpu", **settings)
    classifier.infer(torch.rand(2, *classifier.shape))
    return classifier
"""


def _weights(folder: Path) -> None:
    torch.save(nn.Sequential(nn.Linear(6, 3)).state_dict(), folder / "m.pth")


def make_script(folder: Path) -> None:
    """A TorchScript whose code names a forbidden function in octal letters."""
    from tests.security.formats.test_script import with_line

    honest = save_script(nn.Sequential(nn.Linear(6, 3)).eval(), folder / "honest.pt")
    written = f'getattr(torch, "from\\137file")("{folder / "mark"}", True, 10)'
    line = f"input = torch.add(input, torch.mean({written}))"
    with_line(honest, folder / "m.pt", line)


def make_pooling(folder: Path) -> None:
    """An exported program whose indices lie far outside the tensor they are written to."""
    from tests.fuzz.kinds.operations import Calling

    far = torch.full((1, 1, 64, 64), 2**40)
    call = (
        (
            torch.rand(1, 1, 64, 64),
            torch.rand(1, 1, 128, 128),
            [2, 2],
            [2, 2],
            [0, 0],
            [1, 1],
            False,
            far,
        ),
        {},
    )
    net = Calling("max_pool2d_with_indices_backward.default", call).eval()
    save_exported(net, folder / "m.pt2", torch.rand(2, 6), free=False)


def make_libraries(folder: Path) -> None:
    """Weights whose side file asks timm for a checkpoint; a stand-in for timm leaves the mark."""
    from tests.security.formats.test_architecture import TIMM

    _weights(folder)
    (folder / "m.pth.toml").write_text(
        "architecture = \"timm:resnet18(checkpoint_path='evil.pth')\"\nshape = [6]\n"
    )
    place = folder / "libraries" / "timm"
    place.mkdir(parents=True)
    (place / "__init__.py").write_text(TIMM.replace("MARK", repr(str(folder / "mark"))))


def make_replaced(folder: Path) -> None:
    """Weights with an architecture file that is trusted first and then replaced."""
    _weights(folder)
    (folder / "nets.py").write_text(
        "from torch import nn\ndef net(): return nn.Sequential(nn.Linear(6, 3))\n"
    )


REPLACED = """
import torch
from robgui.core.loading import load
settings = {"architecture": "nets.py:net", "shape": [6]}
first = load("m.pth", trust=True, device="cpu", **settings)
evil = f"open({str(mark)!r}, 'w').close()\\n" + open("nets.py").read()
try:
    from robgui.core.request import Reference, Request
    from robgui.core.drive import Drive
except ImportError:  # the second edition: what the user has trusted is kept by its content
    from robgui.core import trust
    trust.trust(first.ran, "m.pth")
    load("m.pth", device="cpu", **settings)
    open("nets.py", "w").write(evil)
    sentence(lambda: load("m.pth", device="cpu", **settings))
else:
    open("nets.py", "w").write(evil)
    said = Reference(kind="model", name="m.pth", path="m.pth", fingerprint=first.fingerprint,
                     options=settings, trust=True)
    try:
        Drive(Request(analysis="zonnscan", models=(said,)), None)._load_model(said)
    except Exception:
        pass
judge()
"""


def make_boosted(folder: Path) -> None:
    """Boosted trees of which all but the first look far beside the input."""
    import skops.io
    from sklearn.ensemble import GradientBoostingClassifier

    x = np.random.default_rng(0).random((60, 4))
    model = GradientBoostingClassifier(n_estimators=2, max_depth=2, random_state=0)
    model.fit(x, (x[:, 0] * 3).astype(int))
    for tree in model.estimators_[1]:  # only the first round is compared with the input
        tree.tree_.feature[tree.tree_.feature >= 0] = 2**40
        tree.n_features_in_ = 2**41
    model.estimators_features_ = [np.arange(4)] * 2
    skops.io.dump(model, folder / "m.skops")


def make_labels(folder: Path) -> None:
    """A side file whose class names lie in another folder."""
    home = folder / "home"
    home.mkdir()
    save_exported(table_net(), home / "m.pt2", torch.rand(2, 6))
    (folder / "secret.txt").write_text("a password\nanother\na third\n")
    (home / "m.pt2.toml").write_text('labels = "../secret.txt"\n')


def make_endless_labels(folder: Path) -> None:
    """A side file whose class names are a device without end."""
    save_exported(table_net(), folder / "m.pt2", torch.rand(2, 6))
    (folder / "m.pt2.toml").write_text('labels = "/dev/zero"\n')


def make_sparse(folder: Path) -> None:
    """An ONNX file whose sparse constant lies in a file of the current folder."""
    import onnx

    from tests.security.formats.test_onnx_files import sparse_net

    (folder / "home").mkdir()
    secret = np.array([7.0, 8.0, 9.0], dtype=np.float32)
    (folder / "secret.bin").write_bytes(secret.tobytes())
    onnx.save_model(sparse_net("secret.bin"), folder / "home" / "m.onnx")


SPARSE = """
from robgui.core.loading import load
import torch
found = []
def use():
    found.append(load("home/m.onnx", device="cpu", shape=(6,)).raw(torch.eye(6)))
words = sentence(use)
broken(f"numbers of another file: {found[0].max():.0f}") if found and found[0].abs().max() >= 7 else held(words)
"""


def make_deep(folder: Path) -> None:
    """A side file nested without end."""
    save_exported(table_net(), folder / "m.pt2", torch.rand(2, 6))
    (folder / "m.pt2.toml").write_text("shape = " + "[" * 100_000)


def make_digits(folder: Path) -> None:
    """A side file with a number of 5,000 digits."""
    save_exported(table_net(), folder / "m.pt2", torch.rand(2, 6))
    (folder / "m.pt2.toml").write_text("shape = [" + "9" * 5000 + "]")


def make_jobs(folder: Path) -> None:
    """A model that asks for four processes."""
    import skops.io
    from sklearn.neighbors import KNeighborsClassifier

    x = np.random.default_rng(0).random((90, 4))
    model = KNeighborsClassifier(3, algorithm="brute", n_jobs=4).fit(x, (x[:, 0] * 3).astype(int))
    skops.io.dump(model, folder / "m.skops")


JOBS = """
from robgui.core.loading import load
classifier = load("m.skops", device="cpu")
estimator = classifier.backend
asked = [value.n_jobs for value in vars(estimator).values() if hasattr(value, "n_jobs")]
held() if asked and asked[0] in (None, 1) else broken(f"n_jobs = {asked}")
"""


def attacks() -> list[Attack]:
    """Those of this file."""

    def loading(name: str, after: str = "judge(sentence(use))") -> str:
        return LOAD.format(name=name) + after

    return [
        Attack(2, "TorchScript: letters in octal", make_script, loading("m.pt")),
        Attack(3, ".pt2: indices outside", make_pooling, loading("m.pt2")),
        Attack(4, "timm: a checkpoint", make_libraries, loading("m.pth")),
        Attack(6, "replaced after consent", make_replaced, REPLACED),
        Attack(9, "skops: columns outside", make_boosted, loading("m.skops")),
        Attack(
            11,
            "class names of another folder",
            make_labels,
            loading(
                "home/m.pt2",
                """
found = []
words = sentence(lambda: found.append(use().labels))
broken(f"read: {found[0][0]}") if found and "password" in found[0][0] else held(words)
""",
            ),
        ),
        Attack(
            11,
            "class names without end",
            make_endless_labels,
            loading("m.pt2", "held(sentence(use, memory=2**30))"),
        ),
        Attack(17, "ONNX: a sparse constant", make_sparse, SPARSE),
        Attack(20, "a side file nested", make_deep, loading("m.pt2", "held(sentence(use))")),
        Attack(20, "5,000 digits", make_digits, loading("m.pt2", "held(sentence(use))")),
        Attack(21, "skops: n_jobs", make_jobs, JOBS),
    ]
