"""Tells the format of a model file from its content; the extension is only a hint."""

from __future__ import annotations

import struct
from collections.abc import Collection
from enum import StrEnum
from pathlib import Path

from robgui.core.errors import ModelError
from robgui.core.loading.archive import Archive
from robgui.core.regular import open_regular


class Format(StrEnum):
    """Formats that can be loaded."""

    EXPORTED = "torch.export"
    SCRIPT = "TorchScript"
    TORCH = "torch weights"
    LEGACY = "torch weights (old format)"
    PICKLE = "Python pickle"
    SAFETENSORS = "safetensors"
    ONNX = "ONNX"
    SKOPS = "skops"


#: ``torch.save`` began with this number before it wrote zip files; the two bytes before it name the
#: pickle protocol.
_LEGACY_MAGIC = b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
_PICKLES = (".pkl", ".pickle", ".joblib")
_FOREIGN = {
    b"\x89HDF\r\n\x1a\n": (0, "a Keras (HDF5) file; convert it to ONNX with tf2onnx"),
    b"TFL3": (4, "a TensorFlow Lite file; convert it to ONNX with tf2onnx"),
    b"\x1f\x8b": (0, "compressed with gzip; unpack it first"),
    b"ustar": (257, "a tar archive; unpack it first"),
    b"\x89PNG": (0, "a picture, not a model"),
    b"\xff\xd8\xff": (0, "a picture, not a model"),
    b"\x93NUMPY": (0, "a numpy array, not a model"),
}


def sniff(path: Path) -> Format:
    """The format of ``path``; ModelError says what is wrong with a file that is none of them."""
    head, length = _head(path)
    for magic, (offset, words) in _FOREIGN.items():
        if head[offset : offset + len(magic)] == magic:
            raise ModelError(f"{path} is {words}.")
    if head.startswith(b"PK"):
        with Archive(path) as archive:
            return _inside_zip(path, archive.names)
    if head[:1] == b"\x80":
        return Format.LEGACY if head[2 : 2 + len(_LEGACY_MAGIC)] == _LEGACY_MAGIC else Format.PICKLE
    if _is_safetensors(head, length):
        return Format.SAFETENSORS
    if path.suffix.lower() == ".onnx" or (
        head[:1] == b"\x08" and len(head) > 1 and 0 < head[1] < 32
    ):
        return Format.ONNX
    if path.suffix.lower() in _PICKLES:
        return Format.PICKLE
    raise ModelError(
        f"{path} is damaged or no model this program knows: .pt2, TorchScript, state dict,"
        " safetensors, ONNX or skops."
    )


def _head(path: Path) -> tuple[bytes, int]:
    if path.is_dir():
        raise ModelError(f"{path} is a folder; choose the model file inside it.")
    if path.exists() and not path.is_file():
        raise ModelError(f"{path} is not a plain file; choose a model file.")
    try:
        with open_regular(path) as file:
            head = file.read(512)
        length = path.stat().st_size
    except FileNotFoundError:
        raise ModelError(f"{path} does not exist; check the path.") from None
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read: {error}.") from error
    if not head:
        raise ModelError(f"{path} is empty; copy or download it again.")
    return head, length


def _inside_zip(path: Path, names: Collection[str]) -> Format:
    if "archive_format" in names or "serialized_exported_program.json" in names:
        return Format.EXPORTED
    if "constants.pkl" in names and "data.pkl" in names:
        return Format.SCRIPT
    if "data.pkl" in names:
        return Format.TORCH
    if "schema.json" in names:
        return Format.SKOPS
    if "model.weights.h5" in names:
        raise ModelError(f"{path} is a Keras file; convert it to ONNX with tf2onnx.")
    raise ModelError(f"{path} is an archive, but not a model this program knows.")


def _is_safetensors(head: bytes, length: int) -> bool:
    if len(head) < 10:
        return False
    (header,) = struct.unpack("<Q", head[:8])
    return bool(head[8:9] == b"{" and 2 <= header <= length - 8)
