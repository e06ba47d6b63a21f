"""What the user says of a model is found again by the content of its file."""

from __future__ import annotations

import os
import shutil
import time

import pytest

from robgui import resources
from robgui.cli import main
from robgui.core.loading import load
from robgui.core.model.remembered import content, recall, remember, settled
from robgui.core.model.settings import ModelSettings, side_file, write_side_file


@pytest.fixture
def path(tmp_path):
    """A model without a side file."""
    return shutil.copy(resources.path("demo", "fashion_mlp.pt2"), tmp_path / "mlp.pt2")


@pytest.fixture
def said():
    return ModelSettings(shape=(1, 28, 28), mean=(0.25,), std=(0.5,), labels=tuple("abcdefghij"))


def test_nothing_said_is_nothing_remembered(path):
    assert recall(path) == {}
    assert settled(path, {"mean": [0.1]}, time.time()) == {"mean": [0.1]}


def test_what_was_said_comes_back_also_for_a_copy_elsewhere_and_makes_the_same_model(
    path, said, tmp_path
):
    remember(path, said)
    (tmp_path / "other").mkdir()
    copy = shutil.copy(path, tmp_path / "other" / "renamed.pt2")
    assert recall(copy) == said.model_dump()
    first = load(path, device="cpu", **said.model_dump())
    assert load(copy, device="cpu", **recall(copy)).fingerprint == first.fingerprint


def test_the_newest_word_counts(path, said):
    remember(path, said)
    remember(path, said.change(mean=(0.75,)))
    assert recall(path)["mean"] == (0.75,)


def test_another_content_is_another_model(path, said):
    remember(path, said)
    with path.open("ab") as file:
        file.write(b"\0")
    assert recall(path) == {}


def test_the_memory_wins_over_a_side_file_that_was_there_when_the_user_spoke(path, said):
    write_side_file(path, ModelSettings(mean=(0.1,)))
    remember(path, said)
    # copied again, with the same words
    os.utime(side_file(path), (time.time() + 60, time.time() + 60))
    assert recall(path)["mean"] == (0.25,)


def test_a_side_file_edited_since_wins_in_the_fields_it_names(path, said):
    write_side_file(path, ModelSettings(mean=(0.1,)))
    remember(path, said)
    side_file(path).write_text("mean = [0.3]\n")
    found = recall(path)
    assert "mean" not in found and found["std"] == (0.5,)
    assert load(path, device="cpu", **found).settings.mean == (0.3,)


def test_what_a_workspace_stored_counts_until_the_side_file_is_newer_and_less_than_what_the_user_said(
    path, said
):
    stored = {"mean": [0.4], "std": [0.5]}
    write_side_file(path, ModelSettings(mean=(0.1,)))
    now = side_file(path).stat().st_mtime
    assert settled(path, stored, now + 10) == stored
    assert settled(path, stored, now - 10) == {"std": [0.5]}
    remember(path, said)
    assert settled(path, stored, now + 10) == said.model_dump()


def test_weights_beside_an_onnx_file_belong_to_its_content(tmp_path):
    (tmp_path / "m.onnx").write_bytes(b"graph")
    before = content(tmp_path / "m.onnx")
    (tmp_path / "m.onnx.data").write_bytes(b"weights")
    assert content(tmp_path / "m.onnx") != before


def test_a_damaged_record_is_no_memory(path, said, user_folders):
    remember(path, said)
    (file,) = user_folders.rglob(f"{content(path)}.json")
    for damage in ('{"settings": {"mean": "x"}}', '{"settings": 3}', "{"):
        file.write_text(damage)
        assert recall(path) == {}


def test_the_command_line_says_where_it_differs_from_what_was_said_in_the_window(
    path, said, capsys
):
    assert main(["inspect", str(path), "--model-set", "shape=1,28,28"]) == 0
    assert "in the window" not in capsys.readouterr().err
    remember(path, said)
    assert main(["inspect", str(path), "--model-set", "std=0.7"]) == 0
    told = capsys.readouterr().err
    assert (
        "something else of this model in the window (mean, labels)" in told
        and told.count("\n") == 1
    )
