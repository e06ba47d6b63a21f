"""What a pickle would import, as far as it can be seen without running it."""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neural_network import MLPClassifier

from robgui.core.identify import Format, identify
from robgui.core.loading.pickles import listing
from robgui.core.trust.snapshot import Snapshot
from robgui.gui.model.trust_dialog import what_runs

SYSTEM = f"{os.name}.system"


class Calls:
    """An object that calls the system when it is unpickled."""

    def __reduce__(self):
        return os.system, ("true",)


def shown(path: Path) -> str:
    """What the question of trust shows of a file."""
    snapshot = Snapshot(path, "")
    try:
        return what_runs(snapshot.code)
    finally:
        snapshot.discard()


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_a_plain_pickle_is_listed_whole(protocol):
    found = listing(io.BytesIO(pickle.dumps([Calls(), np.zeros(3)], protocol)), pickles=5)
    assert found.whole and SYSTEM in found.names


def test_a_name_that_is_fetched_from_the_memo_is_listed_as_what_it_is():
    again = b"\x80\x04\x8c\x02os\x94\x8c\x06system\x94\x93\x94K\x01h\x00h\x01\x93."
    assert listing(io.BytesIO(again)).names == ("os.system",)


def test_a_call_behind_an_array_of_a_joblib_file_is_listed_and_the_list_says_that_it_is_not_all(
    tmp_path,
):
    joblib.dump([np.arange(500.0), Calls()], tmp_path / "m.joblib")
    with (tmp_path / "m.joblib").open("rb") as file:
        found = listing(file)
    assert not found.whole and SYSTEM in found.names
    words = shown(tmp_path / "m.joblib")
    assert SYSTEM in words and "calls these and more that cannot be listed" in words


def test_the_class_of_a_network_in_a_joblib_file_is_listed(tmp_path):
    x = np.random.default_rng(0).random((40, 3))
    net = MLPClassifier((4,), max_iter=500, solver="lbfgs", tol=0.1).fit(x, x[:, 0] > 0.5)
    joblib.dump({"scale": x, "net": net}, tmp_path / "m.joblib")
    assert "MLPClassifier" in shown(tmp_path / "m.joblib")


def test_a_compressed_file_says_that_nothing_can_be_listed(tmp_path):
    joblib.dump([Calls()], tmp_path / "m.joblib", compress=("zlib", 3))
    words = shown(tmp_path / "m.joblib")
    assert SYSTEM not in words and "cannot be listed without running it." in words


def text(word: str) -> bytes:
    """The opcode that pushes a short text."""
    return b"\x8c" + bytes([len(word)]) + word.encode()


#: Pushes a module and a name and imports it.
GETPID = text("posix") + text("getpid")
DECOYS = {
    "popped": GETPID + text("torch") + text("Size") + b"00\x93",
    "popped to a mark": GETPID + b"(" + text("torch") + text("Size") + b"1\x93",
    "packed and popped": GETPID + text("torch") + text("Size") + b"\x860\x93",
    "put, popped and fetched": (
        text("posix") + b"\x940" + text("getpid") + b"\x940"
        + text("torch") + text("Size") + b"00h\x00h\x01\x93"
    ),
    "doubled": text("torch") + text("posix") + b"2\x93",
    "of Python 2": b"U\x05posixU\x06getpid" + text("torch") + text("Size") + b"00\x93",
    "a mark popped": GETPID + b"(0\x93",
    "overwritten in the memo": (
        text("torch") + b"q\x05" + text("posix") + b"q\x05" + text("getpid") + b"q\x06000"
        + text("Size") + b"0h\x05h\x06\x93"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", DECOYS)
def test_texts_that_are_pushed_to_mislead_do_not_hide_what_is_called(case):
    found = listing(io.BytesIO(b"\x80\x04" + DECOYS[case] + b")R."))
    assert found.whole
    assert found.names == ("posix.posix" if case == "doubled" else "posix.getpid",)


@pytest.mark.parametrize(
    ("pushed", "name"),
    [
        # str("getpid") gives a text that only running it would tell.
        (text("posix") + b"cbuiltins\nstr\n" + text("getpid") + b"\x85R", "posix.?"),
        (b"cbuiltins\nstr\n" + text("posix") + b"\x85R" + text("Size"), "?.Size"),
    ],
)
def test_a_name_that_is_computed_is_listed_as_unknown_and_the_list_is_not_all(pushed, name):
    found = listing(io.BytesIO(b"\x80\x04" + text("torch") + pushed + b"\x93)R."))
    assert not found.whole and found.names == (name, "builtins.str")[:: 1 if name[0] == "?" else -1]


def test_a_registered_number_is_no_empty_list():
    found = listing(io.BytesIO(b"\x80\x02\x82\x01)R."))
    assert not found.whole and found.names == ("?.?",)


def test_bytes_of_an_array_cannot_end_the_list():
    wrapper = text("joblib.numpy_pickle") + text("NumpyArrayWrapper") + b"\x93)\x81}b"
    # joblib reads the dots as an array; as an opcode, a dot ends the pickle.
    found = listing(io.BytesIO(b"\x80\x04" + wrapper + b"." * 8 + GETPID + b"\x93)R."))
    assert not found.whole and "posix.getpid" in found.names


@pytest.mark.parametrize(
    "name",
    [
        "torch load",
        "torch save",
        "torch hub",
        "torch hub.load",
        "torch.hub load",
        "torch compile",
        "torch.serialization load",
        "torch.jit load",
        "torch.ops load_library",
        "torch.storage _load_from_bytes",
        "torch._utils _import_dotted_name",
        "torch._tensor torch",
        "torch.nn.parameter torch.load",
        "torch Size.__new__",
        "torch os.Storage",
        "torch.serialization os.system",
        "collections defaultdict",
    ],
)
@pytest.mark.parametrize("opcode", ["GLOBAL", "STACK_GLOBAL"])
def test_what_torch_does_not_allow_in_a_weight_file_is_listed(name, opcode):
    module, _, word = name.partition(" ")
    if opcode == "GLOBAL":
        call = f"c{module}\n{word}\n".encode()
    else:
        call = text(module) + text(word) + b"\x93"
    found = listing(io.BytesIO(b"\x80\x04" + call + b")R."))
    assert found.names == (f"{module}.{word}",)


@pytest.mark.parametrize("name", ["m.pkl", "X.PKL", "X.Pickle", "X.JOBLIB"])
def test_a_pickle_of_the_oldest_protocol_is_listed_however_its_ending_is_written(tmp_path, name):
    # Its first byte says nothing, so that it is a pickle is told by its name alone.
    (tmp_path / name).write_bytes(pickle.dumps(Calls(), 0))
    assert identify(tmp_path / name).model is Format.PICKLE
    assert SYSTEM in shown(tmp_path / name)


def test_what_weights_need_is_not_listed():
    weights = {
        "plain": torch.zeros(2),
        "half": torch.zeros(2, dtype=torch.bfloat16),
        "kinds": [torch.float8_e4m3fn, torch.quint4x2, torch.complex32, torch.bool, torch.uint4],
        "sparse": torch.eye(2).to_sparse(),
        "parameter": torch.nn.Parameter(torch.zeros(2)),
        "size": torch.zeros(2, 3).shape,
        "device": torch.device("cpu"),
        "bytes": b"abc",
        "set": {1, 2},
        "net": torch.nn.Linear(2, 2).state_dict(),
    }
    for old in (False, True):
        stream = io.BytesIO()
        torch.save(weights, stream, _use_new_zipfile_serialization=not old)
        stream.seek(0)
        if old:
            found = listing(stream, pickles=5)
        else:
            with zipfile.ZipFile(stream) as archive:
                found = listing(io.BytesIO(archive.read("archive/data.pkl")))
        assert found.whole and found.names == ()


class Records(pickle.Unpickler):
    """Python's own reader, which notes what it is asked to import and imports nothing."""

    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content))
        self.asked: set[str] = set()

    def find_class(self, module: str, name: str) -> Any:
        self.asked.add(f"{module}.{name}")
        return str  # What is called gives another text.


#: Pieces of pickles that move texts about.
PIECES = [
    *map(text, ("posix", "getpid", "torch", "Size", "os")),
    *(b"(", b"0", b"1", b"2", b"t", b"l", b"]", b"}", b")", b"N", b"\x85", b"\x86", b"\x87"),
    *(b"a", b"e", b"b", b"R", b"\x81", b"\x94", b"h\x00", b"h\x01", b"q\x00", b"q\x01", b"U\x02os"),
    *(b"\x93", b"\x93", b"\x93", b"cposix\ngetpid\n", b"p0\n", b"g0\n"),
]


@settings(max_examples=1000)
@given(st.lists(st.sampled_from(PIECES), min_size=3, max_size=25))
def test_whatever_python_would_import_is_listed_or_the_list_is_not_all(pieces):
    content = b"\x80\x04" + b"".join(pieces) + b"."
    reader = Records(content)
    # It imports what comes before the place where it fails.
    with suppress(Exception):
        reader.load()
    found = listing(io.BytesIO(content))
    allowed = {"torch.Size"}
    assert reader.asked - allowed <= set(found.names) or not found.whole
