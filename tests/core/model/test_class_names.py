"""Class names come from a file beside the model, one per line or as JSON."""

from __future__ import annotations

import json

import pytest
import torch
from torch import nn

from robgui.core.errors import ModelError
from robgui.core.loading import load
from robgui.core.model.class_names import read_names
from robgui.core.model.settings import side_file

NAMES = ("tench, Tinca tinca", "Grünfink", "hen")


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "m.pt"
    torch.jit.trace(nn.Linear(6, 3), torch.rand(2, 6)).save(path)
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("names.txt", "\ufeff" + "\r\n".join(NAMES) + "\r\n\r\n"),
        ("names.json", json.dumps(NAMES)),
        ("names.json", json.dumps({str(place): name for place, name in enumerate(NAMES)})),
        (
            "names.json",
            json.dumps({str(place): [f"n{place}", name] for place, name in enumerate(NAMES)}),
        ),
    ],
)
def test_every_usual_form_is_read(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_names(tmp_path / name) == NAMES


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("n.txt", b""),
        ("n.txt", b"\xff\xfe\x00"),
        ("n.json", b"{"),
        ("n.json", b'{"1": "a"}'),
        ("n.json", b"[1, 2]"),
        ("n.json", b"3"),
    ],
)
def test_what_holds_no_names_is_said_with_the_file(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelError, match=rf"{name}.*one class name per line"):
        read_names(tmp_path / name)
    with pytest.raises(ModelError, match="No such file"):
        read_names(tmp_path / "nowhere.txt")


def test_a_side_file_and_a_program_may_name_the_file_instead_of_the_names(model, tmp_path):
    (tmp_path / "names.txt").write_text("\n".join(NAMES), encoding="utf-8")
    assert load(model, device="cpu", labels="names.txt").labels == NAMES
    side_file(model).write_text('labels = "names.txt"\n')
    classifier = load(model, device="cpu")
    assert classifier.labels == NAMES == classifier.settings.labels


@pytest.mark.parametrize(
    "text",
    [
        'ClassId,SignName\n1,No entry\n0,Stop\n2,"Give way, always"\n',
        '0,Stop\n1,No entry\n2,"Give way, always"\n',
        "code;ClassId;SignName\na;0;Stop\nb;1;No entry\nc;2;Give way, always\n",
        "id\tname\n0\tStop\n1\tNo entry\n2\tGive way, always\n",
    ],
)
def test_a_table_that_numbers_its_classes_gives_their_names_in_order(tmp_path, text):
    (tmp_path / "names.csv").write_text(text, encoding="utf-8")
    assert read_names(tmp_path / "names.csv") == ("Stop", "No entry", "Give way, always")


def test_a_table_without_class_numbers_is_read_line_by_line(tmp_path):
    (tmp_path / "names.csv").write_text("Stop\nNo entry\n", encoding="utf-8")
    assert read_names(tmp_path / "names.csv") == ("Stop", "No entry")
