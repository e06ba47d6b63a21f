"""Tells what a file is by its first bytes and, for archives, by the names inside.

The file name is a hint, used only where the content leaves the question open (text).
"""

from __future__ import annotations

import gzip
import os
import re
import struct
import zlib
from collections.abc import Collection
from pathlib import Path

from robgui.core.errors import RobguiError
from robgui.core.identify.formats import (
    NOTHING,
    PAIR_HEAD,
    PICKLE_ENDINGS,
    DataFormat,
    Format,
    Identity,
    Kind,
    data,
    foreign,
    model,
)
from robgui.core.identify.zip_directory import BrokenZipError, read_directory
from robgui.core.model.folder import DESCRIPTION, folder_of
from robgui.core.regular import open_regular

#: Enough bytes to recognise every format: the magic of a tar archive stands at byte 257.
_HEAD = 512
#: Most zip members examined when identifying a zip file.
_MOST_MEMBERS = 100_000
#: The number that began every ``torch.save`` file, after two protocol bytes, before it wrote zips.
_LEGACY_MAGIC = b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."


#: How known files begin: offset, bytes, and what the file is.
_MAGIC: tuple[tuple[int, bytes, Identity], ...] = (
    (0, b"SQLite format 3\x00", Identity(Kind.WORKSPACE, "a workspace")),
    (0, b"\x93NUMPY", data(DataFormat.ARRAY)),
    (0, b"\x89PNG", data(DataFormat.PICTURE)),
    (0, b"\xff\xd8\xff", data(DataFormat.PICTURE)),
    (0, b"GIF8", data(DataFormat.PICTURE)),
    (0, b"II*\x00", data(DataFormat.PICTURE)),
    (0, b"MM\x00*", data(DataFormat.PICTURE)),
    (8, b"WEBP", data(DataFormat.PICTURE)),
    (0, b"glTF", Identity(Kind.MESH, "a mesh (GLB)")),
    (0, b"ply\n", Identity(Kind.MESH, "a mesh (PLY)")),
    (0, b"ply\r", Identity(Kind.MESH, "a mesh (PLY)")),
    (4, b"TFL3", model(Format.TFLITE)),
    (0, PAIR_HEAD, model(Format.PAIR)),
    (257, b"ustar", data(DataFormat.TAR)),
    (0, b"PAR1", data(DataFormat.PARQUET)),
    (0, b"ARROW1", data(DataFormat.ARROW)),
    (0, b"MATLAB 5.0 MAT-file", data(DataFormat.MATLAB)),
    (0, b"MATLAB 7.3 MAT-file", data(DataFormat.MATLAB)),
    (8, b"AVI ", data(DataFormat.VIDEO)),
    (0, b"\x1aE\xdf\xa3", data(DataFormat.VIDEO)),
    (0, b"\x00\x00\x01\xba", data(DataFormat.VIDEO)),
    (0, b"%PDF", foreign("a PDF document", "choose a model or data")),
)
_HDF5 = b"\x89HDF\r\n\x1a\n"
#: Bytes at either end of an HDF5 file that are searched for names.
_HDF5_LOOK = 4 * 2**20
_KERAS_WEIGHTS = ("model.weights.h5", "model.weights.npz", "model.weights.json")
_TABLES = (".csv", ".tsv")
_MESHES = (".obj", ".off", ".stl", ".gltf")
#: The value types of an IDX file, given by its third byte.
_IDX_TYPES = (0x08, 0x09, 0x0B, 0x0C, 0x0D, 0x0E)
#: Names that Keras writes into files of weights alone.
_KERAS = (b"keras_version", b"model_weights", b"layer_names")
#: Brands of the MP4 family that hold pictures.
_STILL = (b"heic", b"heix", b"mif1", b"msf1", b"avif", b"avis")
#: A CIFAR pickle is a dictionary whose first key is one of these.
_CIFAR = re.compile(
    # PROTO, perhaps FRAME, EMPTY_DICT, perhaps BINPUT or MEMOIZE, perhaps MARK, then a string with
    # a length of one byte (U, C, \x8c) or four (X, B).
    rb"\x80[\x02-\x05](?:\x95.{8})?\}(?:q.|\x94)?\(?(?:[UC\x8c].|[XB]....)"
    rb"(?:batch_label|filenames|fine_label|coarse_label|num_cases_per_batch|label_names)",
    re.DOTALL,
)
_CIFAR_NAME = re.compile(r"data_batch_\d+|test_batch")
#: Row lengths of CIFAR's binary files (labels and pixels), and how many rows are checked.
_CIFAR_ROWS, _CIFAR_LOOKS = ((3073, 1, 10), (3074, 2, 100)), 16
_ARCHIVED = re.compile(r"\.(png|jpe?g|jpe|bmp|dib|tiff?|webp|gif|p[pgb]m)$", re.IGNORECASE)
_PORTABLE_MAPS = (b"P1", b"P2", b"P3", b"P4", b"P5", b"P6")


def identify(path: Path) -> Identity:
    """What ``path`` is.

    Raises:
        RobguiError: It is not there, cannot be read, or is empty; one sentence.
    """
    if path.is_dir():
        if folder_of(path) is None:
            return data(DataFormat.FOLDER)
        return model(Format.FOLDER)
    head, length = _head(path)
    if path.name == DESCRIPTION and folder_of(path) is not None:
        return model(Format.FOLDER)
    known = _by_magic(head)
    if known is None or head.startswith((b"%PDF", b"\x89PNG")):
        known = _carrying(path, head, known) or known
    if known is not None:
        return known
    if head.startswith(_HDF5):
        return _hdf5(path)
    if head.startswith(b"PK"):
        return _archive(path)
    if head.startswith(b"\x1f\x8b"):
        return _compressed(path, head)
    # In this order: data in a pickle first, or it would pass for a model; text last, since only its
    # name tells what it is.
    return (
        _stored_data(head, length, path)
        or _binary(head, length, path)
        or _text(head, path)
        or NOTHING
    )


def _by_magic(head: bytes) -> Identity | None:
    for offset, magic, identity in _MAGIC:
        if head[offset : offset + len(magic)] == magic:
            return identity
    return None


def _carrying(path: Path, head: bytes, known: Identity | None) -> Identity | None:
    """A figure or report that carries the run behind it; a picture is still data as well."""
    if not head.startswith((b"%PDF", b"\x89PNG")) and b"<" not in head[:16]:
        return None
    from robgui.core.experiment.carrying import carries

    if not carries(path):
        return None
    words = "a figure or report that carries the run behind it"
    return Identity(Kind.EXPERIMENT, words, data=None if known is None else known.data)


def _stored_data(head: bytes, length: int, path: Path) -> Identity | None:
    """Data that could be mistaken for a model or a pickle."""
    if _CIFAR.match(head) or (head[:1] == b"\x80" and _CIFAR_NAME.fullmatch(path.name)):
        return data(DataFormat.CIFAR)
    if path.suffix.lower() == ".bin" and _is_cifar(path, length):
        return data(DataFormat.CIFAR)
    # An ISO media file; HEIF pictures begin in the same way.
    if head[4:8] == b"ftyp" and head[8:12] not in _STILL:
        return data(DataFormat.VIDEO)
    if head[:4] == b"\xff\xff\xff\xff" and path.suffix.lower() == ".arrow":
        return data(DataFormat.ARROW)
    return None


def _binary(head: bytes, length: int, path: Path) -> Identity | None:
    """Formats without a magic number but with a recognisable structure."""
    if head[:1] == b"\x80":
        # 0x1950A86A20F9469CFC6C of torch.serialization: LONG1, ten bytes little-endian, STOP.
        legacy = head[2 : 2 + len(_LEGACY_MAGIC)] == _LEGACY_MAGIC
        return model(Format.LEGACY if legacy else Format.PICKLE)
    if _is_safetensors(head, length):
        return model(Format.SAFETENSORS)
    if _is_idx(head):
        return data(DataFormat.IDX)
    if head[:1] == b"\x08" and len(head) > 1 and 0 < head[1] < 32:
        return model(Format.ONNX)  # A protobuf whose first field is a small ir_version.
    # "BM" alone begins many a text; bytes 6 to 9 are reserved and zero in a bitmap.
    if head[:2] == b"BM" and head[6:10] == bytes(4):
        return data(DataFormat.PICTURE)
    # A PNM file begins like a table whose first column is called P1.
    table = path.suffix.lower() in _TABLES
    if head[:2] in _PORTABLE_MAPS and head[2:3].isspace() and not table:
        return data(DataFormat.PICTURE)
    if path.suffix.lower() == ".onnx":
        return model(Format.ONNX)
    if path.suffix.lower() in PICKLE_ENDINGS:
        return model(Format.PICKLE)
    return None


def _text(head: bytes, path: Path) -> Identity | None:
    """Text that only the file name tells apart from other text."""
    name = path.name.lower().removesuffix(".gz")
    suffix = Path(name).suffix
    if suffix in _MESHES:
        return Identity(Kind.MESH, "a mesh")
    if b"\x00" in head:
        return None
    if suffix == ".json":
        return data(DataFormat.JSON)
    if suffix in _TABLES:
        return data(DataFormat.TABLE)
    if suffix == ".toml" and b"[[" in head:
        return Identity(Kind.SUITE, "a suite of runs")
    # Behind the byte order mark and blanks.
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start[:1] in (b"{", b"["):
        return data(DataFormat.JSON)
    return None


def _archive(path: Path) -> Identity:
    try:
        names = read_directory(path, _MOST_MEMBERS + 1).names
    except (BrokenZipError, OSError):
        return foreign(
            "damaged or cut off: it begins like an archive but cannot be read as one",
            "copy or download it again",
        )
    return _inside_zip(names)


def _inside_zip(names: Collection[str]) -> Identity:
    roots = {name.partition("/")[0] for name in names}
    # torch.save puts everything into one folder, which it names after the file.
    if len(roots) == 1:
        shared = f"{roots.pop()}/"
    else:
        shared = ""
    inner = {name.removeprefix(shared) for name in names}
    if "archive_format" in inner or "serialized_exported_program.json" in inner:
        return model(Format.EXPORTED)
    # Before plain weights: a TorchScript archive has a data.pkl too.
    if "constants.pkl" in inner and "data.pkl" in inner:
        return model(Format.SCRIPT)
    if "data.pkl" in inner:
        return model(Format.TORCH)
    if "schema.json" in inner:
        return model(Format.SKOPS)
    if "config.json" in inner and any(name in inner for name in _KERAS_WEIGHTS):
        return model(Format.KERAS)
    if any(name.endswith(".npy") for name in inner):
        return data(DataFormat.ARRAYS)
    if any(_ARCHIVED.search(name) for name in inner):
        return data(DataFormat.ZIP)
    if len(names) > _MOST_MEMBERS:
        return foreign("an archive of too many files", "unpack it first")
    return foreign("an archive, but not a model this program knows", "unpack it first")


def _hdf5(path: Path) -> Identity:
    """A Keras network, its weights alone, or data.

    The names inside an HDF5 file stand in it as plain bytes.
    """
    try:
        with open_regular(path) as file:
            ends = file.read(_HDF5_LOOK)
            # Not before the end of the first part, or a short file would be read twice.
            file.seek(max(len(ends), os.fstat(file.fileno()).st_size - _HDF5_LOOK))
            ends += file.read(_HDF5_LOOK)
    except OSError:
        ends = b""
    if b"model_config" in ends:
        return model(Format.KERAS_HDF5)
    if any(word in ends for word in _KERAS):
        return foreign(
            "an HDF5 file without a Keras network", "save the whole model, not its weights"
        )
    return data(DataFormat.HDF5)


def _compressed(path: Path, head: bytes) -> Identity:
    """What a gzip file contains, from its first bytes; data may be compressed, models may not."""
    try:
        with open_regular(path) as file, gzip.GzipFile(fileobj=file) as unpacked:
            inner = unpacked.read(_HEAD)
    except (OSError, EOFError, zlib.error):
        inner = head
    if _is_idx(inner):
        return data(DataFormat.IDX)
    # The magic of POSIX tar stands at byte 257 of its first header.
    if inner[257:262] == b"ustar":
        return data(DataFormat.TAR)
    found = _text(inner, path)
    if found is not None and found.kind is Kind.DATA:
        return found
    return foreign("compressed with gzip", "unpack it first")


def _is_cifar(path: Path, length: int) -> bool:
    """Whether a file is labels and 32 × 32 pixels, by its length and some of its labels."""
    for row, labels, classes in _CIFAR_ROWS:
        if length and length % row == 0:
            step = max(1, length // row // _CIFAR_LOOKS)
            with open_regular(path) as file:
                for place in range(0, length, step * row):
                    file.seek(place)
                    # Both labels of CIFAR-100 are below 100, the coarse one even below 20.
                    if max(file.read(labels)) >= classes:
                        break
                else:
                    return True
    return False


def _is_idx(head: bytes) -> bool:
    return len(head) >= 4 and head[:2] == b"\0\0" and head[2] in _IDX_TYPES and 1 <= head[3] <= 4


def _is_safetensors(head: bytes, length: int) -> bool:
    if len(head) < 10:
        return False
    # safetensors: the length of the header as 8 bytes, then the header as a JSON object.
    (header,) = struct.unpack("<Q", head[:8])
    return bool(head[8:9] == b"{" and 2 <= header <= length - 8)


def _head(path: Path) -> tuple[bytes, int]:
    if path.exists() and not path.is_file():
        raise RobguiError(f"{path} is not a plain file; choose a file or a folder.")
    try:
        with open_regular(path) as file:
            head = file.read(_HEAD)
        length = path.stat().st_size
    except FileNotFoundError:
        raise RobguiError(f"{path} does not exist; check the path.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RobguiError(f"{path} cannot be read: {reason}.") from error
    if not head:
        raise RobguiError(f"{path} is empty; copy or download it again.")
    return head, length
