"""Broken files of every format: only RobguiError comes out, and memory stays small."""

from __future__ import annotations

import gzip
import io
import json
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from robgui.core.dataset import open_dataset
from robgui.core.errors import RobguiError


def _image(kind: str, mode: str = "RGB", **options: object) -> bytes:
    buffer = io.BytesIO()
    pixels = np.random.default_rng(0).integers(0, 256, (12, 10, 3), np.uint8)
    image = Image.fromarray(pixels).convert(mode)
    exif = Image.Exif()
    exif[0x0112] = 6
    image.save(
        buffer, kind, **({"exif": exif} if kind in ("JPEG", "PNG", "WEBP") else {}), **options
    )
    return buffer.getvalue()


def _saved(save: Callable[..., None], *values: object, **arrays: object) -> bytes:
    buffer = io.BytesIO()
    save(buffer, *values, **arrays)
    return buffer.getvalue()


_DIGITS = np.arange(2 * 8 * 9, dtype=np.uint8).reshape(2, 8, 9)
_IDX = bytes([0, 0, 8, 3]) + struct.pack(">3I", *_DIGITS.shape) + _DIGITS.tobytes()
_ROWS = b"id,a,b,class\n1,2,3,x\n1,5,6,y\n2,8,9,x\n2,1.5e3,-2,y\n"
_TRACKS = json.dumps(
    [{"points": [[0, 1.5], [2, 3]], "label": "u"}, {"id": 3, "points": [[4, 5]], "label": None}]
).encode()
_RECORDS = json.dumps(
    [{"icao24": "a", "t": i, "x": i / 2, "label": "u"} for i in range(6)]
).encode()

SEEDS: dict[str, bytes] = {
    "a.png": _image("PNG"),
    "palette.png": _image("PNG", "P"),
    "a.jpg": _image("JPEG"),
    "cmyk.jpg": _image("JPEG", "CMYK"),
    "a.bmp": _image("BMP"),
    "a.tif": _image("TIFF"),
    "packed.tif": _image("TIFF", "L", compression="tiff_lzw"),
    "a.webp": _image("WEBP"),
    "a.gif": _image("GIF"),
    "a.ppm": _image("PPM"),
    "a-images-idx3-ubyte": _IDX,
    "a-images-idx3-ubyte.gz": gzip.compress(_IDX),
    "a.npy": _saved(np.save, _DIGITS),
    "a.npz": _saved(np.savez, x=_DIGITS, y=np.arange(2), names=np.array(["u", "v"])),
    "packed.npz": _saved(np.savez_compressed, x=_DIGITS / 255, y=np.arange(2)),
    "a.csv": _ROWS,
    "a.csv.gz": gzip.compress(_ROWS),
    "tracks.json": _TRACKS,
    "records.json": _RECORDS,
    "records.json.gz": gzip.compress(_RECORDS),
}


@pytest.fixture(scope="module", autouse=True)
def little_memory() -> Iterator[None]:
    """Whatever the files declare, reading them adds less than half a gigabyte."""
    if sys.platform == "win32":  # it does not count this way
        yield
        return
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    unit = 1 if sys.platform == "darwin" else 1024
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit < 2**29


@st.composite
def broken(draw: st.DrawFn, seed: bytes) -> bytes:
    """A valid file with bytes changed, taken out, put in or doubled, or cut short."""
    data = bytearray(seed)
    for _ in range(draw(st.integers(1, 6))):
        if not data:
            break
        place = draw(st.integers(0, len(data) - 1))
        match draw(st.sampled_from(["flip", "big", "cut", "drop", "add", "double"])):
            case "flip":
                data[place] = draw(st.integers(0, 255))
            case "big":
                data[place : place + 4] = draw(
                    st.sampled_from(
                        [b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\0", b"9999"]
                    )
                )
            case "cut":
                del data[place:]
            case "drop":
                del data[place : place + draw(st.integers(1, 20))]
            case "add":
                data[place:place] = draw(st.binary(min_size=1, max_size=12))
            case "double":
                data[place:place] = data[place : place + 30]
    return bytes(data)


def use(path: Path) -> None:
    """Opens the file and does everything with it that a window does."""
    dataset = open_dataset(path)
    assert dataset.fingerprint and len(dataset) >= 0
    for index in range(min(3, len(dataset))):
        assert dataset.thumbnail(index, 24).shape[2] == 3
        assert dataset.key(index)
    shape = dataset.shape or ((3, 8, 8) if dataset.kind == "image" else (4, len(dataset.features)))
    indices, items = dataset.readable(range(min(3, len(dataset))), shape)
    assert items.shape == (len(indices), *shape) and np.isfinite(items).all()
    if dataset.kind == "image" and items.size:
        assert items.min() >= 0 and items.max() <= 1
    if dataset.labels is not None:
        assert len(dataset.labels) == len(dataset) and dataset.labels.min(initial=0) >= -1
    dataset.array(range(min(3, len(dataset))), shape)


def complaint(path: Path) -> str:
    """The one sentence that using the file gives, if it is refused."""
    try:
        use(path)
    except RobguiError as error:
        sentence = str(error)
    else:
        return ""
    assert sentence and "\n" not in sentence
    return sentence


@pytest.mark.parametrize("name", SEEDS)
def test_the_unbroken_file_opens(tmp_path: Path, name: str):
    (tmp_path / name).write_bytes(SEEDS[name])
    use(tmp_path / name)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SEEDS)
def test_a_broken_file_gives_one_sentence(name: str):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name

        @settings(max_examples=60)
        @given(broken(SEEDS[name]))
        def check(data: bytes) -> None:
            path.write_bytes(data)
            sentence = complaint(path)
            assert not sentence or (sentence.endswith((".", "]'")) and folder in sentence)

        check()


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=150)
@given(st.sampled_from(sorted(SEEDS)), st.binary(max_size=200))
def test_any_bytes_under_any_name_give_one_sentence(name: str, data: bytes):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        complaint(path)


@settings(max_examples=100)
@given(st.sampled_from(["a.csv", "a.json"]), st.text(max_size=120))
def test_any_text_gives_one_sentence(name: str, text: str):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(text.encode("utf-8", "replace"))
        complaint(path)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["id", "points", "x", "label", "track", "tracks", "time"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=24,
)


@settings(max_examples=200)
@given(_JSON)
def test_any_json_gives_one_sentence(value: object):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.json"
        path.write_text(json.dumps(value), encoding="utf-8")
        complaint(path)
