"""Code of a file runs only if this user has said so of exactly this code."""

from __future__ import annotations

import os
import pickle
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from robgui.core import trust
from robgui.core.errors import ModelError, RobguiError, TrustError
from robgui.core.loading import load
from robgui.core.model.settings import write_side_file
from robgui.core.records import Records

NETS = """
from torch import nn
import pathlib
pathlib.Path({marker!r}).touch()

def net(width=3, name=""):
    return nn.Sequential(nn.Flatten(), nn.Linear(16, width))
"""
POSIX = pytest.mark.skipif(os.name == "nt", reason="Windows has no file modes")


class Trap:
    """An object whose unpickling leaves a trace."""

    def __init__(self, marker: Path) -> None:
        self.marker = str(marker)

    def __reduce__(self):
        return open, (self.marker, "w")


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    return tmp_path / "executed"


@pytest.fixture
def weights(tmp_path: Path, marker: Path) -> Path:
    """A state dict with an architecture file that leaves a trace, both named by a side file."""
    folder = tmp_path / "models"
    folder.mkdir()
    torch.manual_seed(0)
    (folder / "nets.py").write_text(NETS.format(marker=str(marker)))
    torch.save(nn.Sequential(nn.Flatten(), nn.Linear(16, 3)).state_dict(), folder / "tiny.pth")
    (folder / "tiny.pth.toml").write_text('architecture = "nets.py:net(3)"\nshape = [1, 4, 4]\n')
    return folder / "tiny.pth"


def asked(path: Path, **settings) -> trust.Code:
    with pytest.raises(TrustError) as caught:
        load(path, device="cpu", **settings)
    assert path.name in str(caught.value) and "\n" not in str(caught.value)
    assert caught.value.code is not None
    return caught.value.code


def test_the_question_tells_the_call_its_files_and_what_they_say(weights, marker):
    code = asked(weights)
    assert not marker.exists()
    assert (code.model, code.architecture) == (weights, "nets.py:net(3)")
    (source,) = code.sources
    assert source.path == weights.parent / "nets.py" and "def net" in source.text


def test_the_question_tells_what_a_pickle_calls(tmp_path, marker):
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(Trap(marker)))
    assert asked(tmp_path / "m.pkl").imports == ("io.open",)
    torch.save({"state_dict": Trap(marker)}, tmp_path / "m.pth")
    assert asked(tmp_path / "m.pth").imports == ("io.open",)
    assert not marker.exists()


def test_what_the_user_trusts_is_loaded_from_then_on_and_no_more_once_it_is_revoked(
    weights, marker
):
    code = asked(weights)
    trust.trust(code.digest, code.what)
    classifier = load(weights, device="cpu")
    assert marker.exists() and classifier.ran == code.digest
    assert (classifier.path, classifier.name) == (weights, "tiny.pth")
    assert classifier.settings.architecture == "nets.py:net(3)"
    assert trust.trusted() == {code.digest: f"{weights}, nets.py:net(3)"}
    trust.revoke(code.digest)
    assert trust.trusted() == {}
    asked(weights)


def test_trust_follows_the_content_wherever_the_files_lie(weights, tmp_path):
    code = asked(weights)
    trust.trust(code.digest, code.what)
    shutil.copytree(weights.parent, tmp_path / "moved")
    assert load(tmp_path / "moved" / "tiny.pth", device="cpu").ran == code.digest


@pytest.mark.parametrize("changed", ["nets.py", "tiny.pth", "tiny.pth.toml", "helper.py"])
def test_any_change_of_what_would_run_asks_again(weights, marker, changed):
    (weights.parent / "helper.py").write_text("WIDTH = 3\n")
    (weights.parent / "nets.py").write_text("import helper\n" + NETS.format(marker=str(marker)))
    code = asked(weights)
    trust.trust(code.digest, code.what)
    load(weights, device="cpu")
    marker.unlink()
    if changed == "tiny.pth":
        torch.save(nn.Sequential(nn.Flatten(), nn.Linear(16, 3)).state_dict(), weights)
    elif changed == "tiny.pth.toml":
        (weights.parent / changed).write_text(
            'architecture = "nets.py:net(width=3)"\nshape = [1, 4, 4]\n'
        )
    else:
        (weights.parent / changed).write_text(
            (weights.parent / changed).read_text() + "\nprint('evil')\n"
        )
    assert asked(weights).digest != code.digest
    assert not marker.exists()


def test_another_call_of_the_same_file_asks_again(weights):
    code = asked(weights)
    trust.trust(code.digest, code.what)
    assert asked(weights, architecture="nets.py:net(3, name='other')").digest != code.digest


def test_modules_beside_the_architecture_are_copied_hashed_and_imported(weights, marker):
    (weights.parent / "layers").mkdir()
    (weights.parent / "layers" / "__init__.py").write_text("from layers.inner import WIDTH\n")
    (weights.parent / "layers" / "inner.py").write_text("WIDTH = 3\n")
    (weights.parent / "unused.py").write_text("raise SystemExit\n")
    (weights.parent / "nets.py").write_text(
        "from torch import nn\nimport layers\ndef net(n):\n    return nn.Sequential(nn.Flatten(),"
        " nn.Linear(16, layers.WIDTH))\n"
    )
    code = asked(weights)
    assert sorted(source.path.name for source in code.sources) == [
        "__init__.py",
        "inner.py",
        "nets.py",
    ]
    assert load(weights, device="cpu", trust=True).classes == 3
    (weights.parent / "layers" / "inner.py").write_text("WIDTH = 4\n")
    assert asked(weights).digest != code.digest
    with pytest.raises(ModelError, match="another shape"):
        load(weights, device="cpu", trust=True)


def test_what_is_replaced_after_it_was_hashed_does_not_run(weights, marker, tmp_path, monkeypatch):
    from robgui.core.trust import snapshot

    evil = tmp_path / "evil"
    taken = snapshot.Snapshot.__init__

    def take_then_replace(self, path, architecture):
        taken(self, path, architecture)
        (weights.parent / "nets.py").write_text(NETS.format(marker=str(evil)))
        torch.save(Trap(evil), weights)

    code = asked(weights)
    trust.trust(code.digest, code.what)
    monkeypatch.setattr(snapshot.Snapshot, "__init__", take_then_replace)
    assert load(weights, device="cpu").classes == 3
    assert marker.exists() and not evil.exists()


def test_an_absolute_architecture_is_hashed_and_kept_as_it_was_said(weights, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    shutil.move(weights.parent / "nets.py", tmp_path / "elsewhere" / "mine.py")
    call = f"{tmp_path / 'elsewhere' / 'mine.py'}:net(3)"
    assert asked(weights, architecture=call).sources[0].path == tmp_path / "elsewhere" / "mine.py"
    classifier = load(weights, device="cpu", trust=True, architecture=call)
    assert classifier.settings.architecture == call


def test_errors_name_the_files_the_user_knows(weights):
    (weights.parent / "nets.py").write_text("raise RuntimeError('no')\n")
    with pytest.raises(ModelError) as caught:
        load(weights, device="cpu", trust=True)
    assert str(weights) in str(caught.value) and str(weights.parent / "nets.py") in str(
        caught.value
    )
    assert "robgui-" not in str(caught.value)


def test_digests_may_be_given_instead_of_the_store(weights):
    code = asked(weights)
    assert load(weights, device="cpu", trust={code.digest}).ran == code.digest
    with pytest.raises(TrustError):
        load(weights, device="cpu", trust={"0" * 64})


def test_saving_the_settings_of_a_trusted_model_asks_anew_because_the_side_file_is_part_of_it(
    weights,
):
    code = asked(weights)
    trust.trust(code.digest, code.what)
    classifier = load(weights, device="cpu")
    write_side_file(weights, classifier.settings.change(mean=(0.5,)))
    assert asked(weights).digest != code.digest


def test_a_harmless_file_is_loaded_without_a_copy_and_without_a_question(tmp_path):
    torch.jit.trace(nn.Sequential(nn.Flatten(), nn.Linear(16, 3)), torch.rand(2, 1, 4, 4)).save(
        tmp_path / "m.pt"
    )
    classifier = load(tmp_path / "m.pt", device="cpu", shape=(1, 4, 4))
    assert classifier.ran == ""


def test_the_private_copies_are_gone_when_the_program_ends(weights, tmp_path):
    code = (
        "import sys, pathlib, tempfile\nfrom robgui.core.loading import load\nload(sys.argv[1],"
        " device='cpu', trust=True)\n(folder,) ="
        " pathlib.Path(tempfile.gettempdir()).glob('robgui-*')\nprint(oct(folder.stat().st_mode &"
        " 0o777), [f.name for f in folder.rglob('*') if f.is_file()])\n"
    )
    (tmp_path / "tmp").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(weights)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.stdout.strip() == "0o700 ['nets.py']", done.stderr
    assert not list((tmp_path / "tmp").glob("robgui-*"))


@POSIX
def test_records_are_private_and_those_that_others_may_write_are_not_believed(user_folders):
    key = "a" * 64
    trust.trust(key, "it")
    (file,) = user_folders.rglob(f"{key}.json")
    assert (
        stat.S_IMODE(file.stat().st_mode) == 0o600
        and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    )
    assert trust.is_trusted(key)
    file.chmod(0o666)
    assert not trust.is_trusted(key)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{", b"nul", b"[" * 100_000, b"\xff", b'{"digest": "other"}']
)
def test_a_damaged_record_trusts_nothing(user_folders, content):
    key = "b" * 64
    trust.trust(key, "it")
    (file,) = user_folders.rglob(f"{key}.json")
    file.write_bytes(content)
    assert not trust.is_trusted(key) and trust.trusted() == {}


def test_a_record_is_named_by_a_digest_and_nothing_else():
    for key in ("", "../settings", "A" * 64, "a" * 63):
        with pytest.raises(ValueError, match="no SHA-256"):
            Records("trust").read(key)


@POSIX
def test_a_store_that_cannot_be_written_is_one_sentence(user_folders, monkeypatch):
    (user_folders / "data_home").write_text("a file where the folder should be")
    with pytest.raises(RobguiError, match="cannot be written"):
        trust.trust("c" * 64, "it")
