"""What a file is follows from its content, whatever its name says, and nothing in it is run."""

from __future__ import annotations

import gzip
import os
import pickle
import shutil
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from robgui.core.dataset import open_dataset
from robgui.core.errors import DataError, RobguiError
from robgui.core.identify import DataFormat, Format, Kind, identify
from robgui.core.loading import load
from robgui.core.workspace import Workspace
from tests.core.loading.makers import save_exported, save_forest, save_script, table_net

MODELS = {
    "exported.pt2": Format.EXPORTED,
    "script.pt": Format.SCRIPT,
    "weights.pth": Format.TORCH,
    "old.pth": Format.LEGACY,
    "object.pkl": Format.PICKLE,
    "weights.safetensors": Format.SAFETENSORS,
    "forest.skops": Format.SKOPS,
}
DATA = {
    "picture.png": DataFormat.PICTURE,
    "picture.jpg": DataFormat.PICTURE,
    "picture.bmp": DataFormat.PICTURE,
    "picture.ppm": DataFormat.PICTURE,
    "picture.webp": DataFormat.PICTURE,
    "picture.tif": DataFormat.PICTURE,
    "array.npy": DataFormat.ARRAY,
    "arrays.npz": DataFormat.ARRAYS,
    "images-idx3-ubyte": DataFormat.IDX,
    "images-idx3-ubyte.gz": DataFormat.IDX,
}


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    net = table_net()
    save_exported(net, folder / "exported.pt2", torch.rand(2, 6))
    save_script(net, folder / "script.pt")
    torch.save(net.state_dict(), folder / "weights.pth")
    torch.save(net.state_dict(), folder / "old.pth", _use_new_zipfile_serialization=False)
    (folder / "object.pkl").write_bytes(pickle.dumps({"a": 1}))
    save_file(net.state_dict(), folder / "weights.safetensors")
    save_forest(folder / "forest.skops")
    picture = Image.fromarray(np.zeros((8, 8, 3), np.uint8))
    for name in (name for name in DATA if name.startswith("picture")):
        picture.save(folder / name)
    values = np.zeros((3, 4, 4), np.uint8)
    np.save(folder / "array.npy", values)
    np.savez(folder / "arrays.npz", images=values)
    idx = struct.pack(">BBBB3i", 0, 0, 8, 3, *values.shape) + values.tobytes()
    (folder / "images-idx3-ubyte").write_bytes(idx)
    (folder / "images-idx3-ubyte.gz").write_bytes(gzip.compress(idx))
    (folder / "rows.csv").write_text("BMI,age\n1,2\n")
    (folder / "tabs.tsv").write_text("P1\tP2\n1\t2\n")
    Workspace.open(folder / "work.robgui").close()
    return folder


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("called", ["", "picture.png", "nothing", "data.csv"])
def test_a_model_is_one_whatever_it_is_called(files, tmp_path, name, called):
    path = shutil.copy(files / name, tmp_path / (called or name))
    found = identify(Path(path))
    assert (found.kind, found.model) == (Kind.MODEL, MODELS[name])


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("called", ["", "model.onnx", "model.pt2", "nothing"])
def test_data_are_data_whatever_they_are_called(files, tmp_path, name, called):
    path = shutil.copy(files / name, tmp_path / (called or name))
    found = identify(Path(path))
    assert (found.kind, found.data) == (Kind.DATA, DATA[name])


def test_a_model_called_like_a_picture_is_loaded_and_a_picture_called_like_a_model_is_opened(
    files, tmp_path
):
    model = Path(shutil.copy(files / "exported.pt2", tmp_path / "photo.png"))
    picture = Path(shutil.copy(files / "picture.png", tmp_path / "net.csv"))
    assert load(model, device="cpu").shape == (6,)
    assert len(open_dataset(picture)) == 1
    with pytest.raises(DataError, match=r"photo.png is a model \(torch.export\), not data"):
        open_dataset(model)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (bytes(4) + b"TFL3" + bytes(600), Format.TFLITE),
        (b"\x89HDF\r\n\x1a\n" + bytes(600) + b"model_config" + bytes(9), Format.KERAS_HDF5),
    ],
)
def test_a_network_of_tensorflow_is_a_model_whatever_it_is_called(tmp_path, content, what):
    (tmp_path / "data.csv").write_bytes(content)
    assert identify(tmp_path / "data.csv").model is what


@pytest.mark.parametrize(
    ("described", "is_model"),
    [
        ('{"model_type": "vit"}', True),
        ('{"architecture": "resnet18"}', True),
        ('{"something": 1}', False),
        ("[1]", False),
        ("no json", False),
    ],
)
def test_a_folder_is_a_model_where_it_describes_one(tmp_path, described, is_model):
    (tmp_path / "config.json").write_text(described)
    assert identify(tmp_path).kind is Kind.DATA, "no weights"
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    assert (identify(tmp_path).kind is Kind.MODEL) == is_model
    assert (identify(tmp_path / "config.json").kind is Kind.MODEL) == is_model


def test_a_table_is_told_from_pictures_that_begin_like_its_header(files):
    assert identify(files / "rows.csv").data is DataFormat.TABLE
    assert identify(files / "tabs.tsv").data is DataFormat.TABLE


def test_a_workspace_a_mesh_a_suite_and_a_folder(files, tmp_path):
    assert identify(files / "work.robgui").kind is Kind.WORKSPACE
    assert identify(files).data is DataFormat.FOLDER
    (tmp_path / "m.obj").write_text("v 0 0 0\n")
    assert identify(tmp_path / "m.obj").kind is Kind.MESH
    (tmp_path / "s.toml").write_text('[[runs]]\nanalysis = "zonnscan"\n')
    assert identify(tmp_path / "s.toml").kind is Kind.SUITE


@pytest.mark.parametrize(
    ("content", "words", "remedy"),
    [
        (
            b"\x89HDF\r\n\x1a\n" + bytes(600) + b"model_weights",
            "without a Keras network",
            "whole model",
        ),
        (b"PK\x03\x04 and nothing more", "damaged or cut off", "again"),
        (b"no idea at all", "nothing this program knows", "choose"),
    ],
)
def test_what_cannot_be_opened_is_named_with_a_remedy(tmp_path, content, words, remedy):
    (tmp_path / "file").write_bytes(content)
    found = identify(tmp_path / "file")
    assert found.kind is Kind.UNKNOWN and words in found.words and remedy in found.remedy


def test_what_is_not_there_empty_or_no_plain_file_is_one_sentence(tmp_path):
    (tmp_path / "empty").touch()
    with pytest.raises(RobguiError, match="is empty"):
        identify(tmp_path / "empty")
    with pytest.raises(RobguiError, match="does not exist"):
        identify(tmp_path / "gone")
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(RobguiError, match="not a plain file"):
            identify(tmp_path / "pipe")
