"""Small real model files of every format, made once for all tests here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
import torch
from safetensors.torch import save_file

from tests.core.loading.makers import (
    ARCHITECTURES,
    Evil,
    image_net,
    onnx_table_net,
    save_exported,
    save_forest,
    save_script,
    table_net,
)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one small model in every format; nothing may be written into it."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "nets.py").write_text(ARCHITECTURES)
    image, table = image_net(), table_net()
    save_exported(image, folder / "image.pt2", torch.rand(2, 1, 28, 28))
    save_exported(table, folder / "table.pt2", torch.rand(2, 6))
    save_script(image, folder / "image.pt")
    save_script(table, folder / "table.pt")
    torch.save(image.state_dict(), folder / "image.pth")
    torch.save(table.state_dict(), folder / "table.pth")
    torch.save(table.state_dict(), folder / "legacy.th", _use_new_zipfile_serialization=False)
    save_file(dict(table.state_dict()), folder / "table.safetensors")
    onnx.save(onnx_table_net(), folder / "table.onnx")
    save_forest(folder / "forest.skops")
    return folder


@pytest.fixture
def evil(tmp_path: Path) -> tuple[Evil, Callable[[], bool]]:
    """An object whose unpickling leaves a trace, and a function that tells whether it did."""
    marker = tmp_path / "executed"
    return Evil(marker), marker.exists
