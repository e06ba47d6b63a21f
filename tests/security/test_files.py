"""Names that stand in files lead only to plain files beside them.

Pipes and devices are not waited for.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from robgui.core.dataset import open_dataset
from robgui.core.errors import DataError, ModelError, RobguiError
from robgui.core.loading import load
from robgui.core.model.class_names import read_names
from robgui.core.regular import beside, open_regular, read_regular
from tests.security.attacks import refused

SECONDS = 20


def within(seconds: float, action: Callable[[], Any]) -> BaseException | None:
    """What ``action`` raises; fails when it has not ended after ``seconds``."""
    raised: list[BaseException | None] = []

    def run() -> None:
        try:
            action()
            raised.append(None)
        except BaseException as error:  # noqa: BLE001  (handed to the test)
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert raised, "it hangs"
    return raised[0]


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A named pipe that nobody writes to."""
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model of two classes that loads without help, in a folder of its own."""
    (tmp_path / "home").mkdir()
    path = tmp_path / "home" / "m.pt2"
    with torch.no_grad():
        program = torch.export.export(
            nn.Sequential(nn.Linear(6, 2)).eval(),
            (torch.rand(2, 6),),
            dynamic_shapes=({0: torch.export.Dim("n")},),
        )
    torch.export.save(program, path)
    return path


def side_file(model: Path, text: str) -> None:
    model.with_name(model.name + ".toml").write_text(text)


def test_class_names_beside_the_model_are_read(model):
    (model.parent / "names.txt").write_text("cat\ndog\n")
    side_file(model, 'labels = "names.txt"')
    assert load(model, device="cpu").labels == ("cat", "dog")


@pytest.mark.parametrize(
    "how", ["absolute", "upwards", "link", "sub-folder link", "nothing", "nul"]
)
def test_a_side_file_reads_no_file_elsewhere(model, tmp_path, how):
    secret = tmp_path / "secret.txt"
    secret.write_text("password one\npassword two\n")
    (model.parent / "link.txt").symlink_to(secret)
    (model.parent / "below").symlink_to(tmp_path)
    name = {
        "absolute": str(secret),
        "upwards": "../secret.txt",
        "link": "link.txt",
        "sub-folder link": "below/secret.txt",
        "nothing": "",
        "nul": "a\\u0000b",
    }[how]
    side_file(model, f'labels = "{name}"')
    sentence = refused(model, ModelError)
    assert "labels" in sentence and "password" not in sentence


@pytest.mark.parametrize("target", ["/dev/zero", "/dev/stdin", "pipe"])
def test_class_names_from_a_device_or_a_pipe_are_refused_at_once(model, pipe, target):
    link = model.parent / "names.txt"
    link.symlink_to(pipe if target == "pipe" else target)
    side_file(model, 'labels = "names.txt"')
    assert isinstance(within(SECONDS, lambda: load(model, device="cpu")), ModelError)
    assert isinstance(within(SECONDS, lambda: read_names(link)), ModelError)


def test_a_person_may_name_class_names_anywhere(model, tmp_path):
    (tmp_path / "elsewhere.txt").write_text("cat\ndog\n")
    assert load(model, device="cpu", labels=str(tmp_path / "elsewhere.txt")).labels == (
        "cat",
        "dog",
    )


def test_class_names_without_end_are_refused_before_they_are_read(tmp_path):
    path = tmp_path / "names.txt"
    with path.open("wb") as file:
        file.truncate(50_000_000_000)  # a hole: no bytes on the disk
    began = time.monotonic()
    with pytest.raises(ModelError, match="larger than"):
        read_names(path)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("suffix", [".npz", ".npy", ".csv", ".json", ".png", ".idx", ".csv.gz", ""])
@pytest.mark.parametrize("target", ["pipe", "/dev/zero"])
def test_data_from_a_pipe_or_a_device_are_refused_at_once(tmp_path, pipe, target, suffix):
    link = tmp_path / f"data{suffix}"
    link.symlink_to(pipe if target == "pipe" else target)
    assert isinstance(within(SECONDS, lambda: open_dataset(link)), DataError)


def test_a_pipe_among_images_is_left_out(tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    for name in ("a.png", "c.png"):
        Image.fromarray(np.zeros((8, 8), np.uint8)).save(folder / name)
    os.mkfifo(folder / "b.png")
    (folder / "d.png").symlink_to("/dev/zero")
    opened: list[Any] = []

    def use() -> None:
        dataset = open_dataset(folder)
        opened.extend((dataset, dataset.fingerprint))
        for index in range(len(dataset)):
            try:
                dataset.thumbnail(index, 8)
            except DataError:
                continue

    assert within(SECONDS, use) is None
    assert len(opened[0]) >= 2


@pytest.mark.parametrize("name", ["labels.csv", "labels.json"])
def test_a_pipe_in_place_of_a_labels_file_is_not_waited_for(tmp_path, name):
    folder = tmp_path / "images"
    folder.mkdir()
    Image.fromarray(np.zeros((8, 8), np.uint8)).save(folder / "a.png")
    os.mkfifo(folder / name)
    assert within(SECONDS, lambda: open_dataset(folder)) is None
    assert isinstance(
        within(SECONDS, lambda: open_dataset(folder, labels=str(folder / name))), DataError
    )


@pytest.mark.parametrize("suffix", [".pt", ".onnx", ".skops", ".safetensors"])
def test_a_model_from_a_device_is_refused_at_once(tmp_path, suffix):
    link = tmp_path / f"m{suffix}"
    link.symlink_to("/dev/zero")
    assert isinstance(within(SECONDS, lambda: load(link, device="cpu")), ModelError)


def test_a_plain_file_is_opened_through_a_link(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with open_regular(tmp_path / "b") as file:
        assert file.read() == b"abc"
    assert read_regular(tmp_path / "b", 3) == b"abc"
    with pytest.raises(OSError, match="larger"):
        read_regular(tmp_path / "b", 2)
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)


def test_beside_allows_what_lies_below(tmp_path):
    (tmp_path / "below").mkdir()
    assert beside(tmp_path, "below/a.txt") == (tmp_path / "below" / "a.txt").resolve()
    for name in ("..", "below/../../a", "/etc/passwd", ""):
        with pytest.raises(OSError, match="beside"):
            beside(tmp_path, name)


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 100_000,
        "a = " + "[" * 5000 + "]" * 5000,
        "shape = [" + "9" * 5000 + "]",
        "a" + ".a" * 100_000 + " = 1",
        "\x00",
    ],
)
def test_a_side_file_nested_or_written_without_end_is_one_sentence(model, text):
    side_file(model, text)
    assert "side file" in refused(model, ModelError)


def test_a_side_file_of_gigabytes_is_not_read(model):
    side_file(model, "")
    with model.with_name(model.name + ".toml").open("wb") as file:
        file.truncate(50_000_000_000)
    assert "larger than" in refused(model, ModelError)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"0": ' * 50_000, "[" + "9" * 5000 + "]"])
def test_class_names_nested_or_written_without_end_are_one_sentence(tmp_path, text):
    (tmp_path / "names.json").write_text(text)
    with pytest.raises(RobguiError):
        read_names(tmp_path / "names.json")


def test_a_small_file_takes_no_more_memory_than_it_has(tmp_path):
    """Python's reader takes the whole of what it is asked for before anything comes."""
    import tracemalloc

    (tmp_path / "small").write_bytes(b"x" * 1000)
    tracemalloc.start()
    try:
        assert len(read_regular(tmp_path / "small", 2**31)) == 1000
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
