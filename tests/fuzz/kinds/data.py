"""Datasets, class names and meshes: opened, fingerprinted, and one of them read or drawn."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import numpy as np

from robgui import resources
from tests.fuzz.kinds.kind import Kind, place
from tests.fuzz.kinds.models import array_bytes
from tests.fuzz.spoiling.archives import archive
from tests.fuzz.spoiling.documents import json_bytes
from tests.fuzz.spoiling.plain import noise, text

PIXELS = np.random.default_rng(0).integers(0, 256, (12, 9, 3), dtype=np.uint8)


def open_and_read(path: Path, dice: random.Random) -> None:
    """What the gallery does with a dataset."""
    from robgui.core.dataset import open_dataset

    dataset = open_dataset(path)
    assert dataset.fingerprint
    list(dataset.readable(np.arange(min(4, len(dataset)))))
    if len(dataset) and not dataset.skipped:
        dataset.thumbnail(0, 64)
    dataset.keys()


def import_readers() -> None:
    """What reading data imports late."""
    import cv2
    import PIL.Image

    import robgui.core.dataset  # noqa: F401

    PIL.Image.init()
    assert cv2


# ---------------------------------------------------------------- arrays and tables


def make_arrays(folder: Path) -> None:
    """NPZ, NPY and IDX."""
    images = np.random.default_rng(0).random((6, 1, 5, 5)).astype(np.float32)
    labels = np.arange(6) % 3
    np.savez(place(folder, "npz", ".npz"), x=images, y=labels, names=np.array(["a", "b", "c"]))
    np.savez_compressed(place(folder, "packed", ".npz"), images=(images * 255).astype(np.uint8))
    np.save(place(folder, "npy", ".npy"), images)
    np.save(place(folder, "fortran", ".npy"), np.asfortranarray(images[:, 0]))
    idx = b"\0\0\x08\x03" + b"".join(n.to_bytes(4, "big") for n in (3, 4, 4)) + bytes(48)
    place(folder, "idx", "-images-idx3-ubyte").write_bytes(idx)
    place(folder, "idx packed", "-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx))


def spoil_arrays(content: bytes, dice: random.Random, seed: str) -> bytes:
    """By what the file begins with."""
    if content[:2] == b"PK":
        return archive(content, dice, lambda _: array_bytes)
    if content[:6] == b"\x93NUMPY":
        return array_bytes(content, dice)
    if content[:2] == b"\x1f\x8b" and dice.random() < 0.7:
        return gzip.compress(noise(gzip.decompress(content), dice))
    return noise(content[:20], dice) + content[20:]


def make_tables(folder: Path) -> None:
    """CSV and JSON."""
    rows = "".join(f"{i},{i * 0.5},{-i},{'abc'[i % 3]}\n" for i in range(8))
    place(folder, "csv", ".csv").write_text("a,b,c,label\n" + rows, encoding="utf-8")
    place(folder, "tsv", ".tsv").write_text(rows.replace(",", "\t"), encoding="utf-8")
    place(folder, "packed", ".csv.gz").write_bytes(gzip.compress(rows.encode()))
    steps = "".join(f"{i // 4},{i % 4},{i * 0.1},{'ab'[i // 4]}\n" for i in range(8))
    place(folder, "sequence", ".csv").write_text("id,t,v,label\n" + steps, encoding="utf-8")
    records = [{"x": [i, 2.0 * i, 0.5], "label": "ab"[i % 2]} for i in range(4)]
    place(folder, "records", ".json").write_text(json.dumps(records), encoding="utf-8")
    nested = {"data": [[[0.1, 0.2], [0.3, 0.4]]] * 3, "labels": [0, 1, 0], "names": ["a", "b"]}
    place(folder, "nested", ".json").write_text(json.dumps(nested), encoding="utf-8")


def spoil_tables(content: bytes, dice: random.Random, seed: str) -> bytes:
    """JSON as a document, everything else as text."""
    if content[:2] == b"\x1f\x8b":
        return gzip.compress(text(gzip.decompress(content), dice))
    if content[:1] in (b"[", b"{"):
        return json_bytes(content, dice)
    return text(content, dice) if dice.random() < 0.8 else noise(content, dice)


def make_names(folder: Path) -> None:
    """Class names: lines, a list, an object from number to name."""
    place(folder, "lines", ".txt").write_text("cat\ndog\n漢字\n", encoding="utf-8")
    place(folder, "list", ".json").write_text('["cat", "dog"]', encoding="utf-8")
    place(folder, "object", ".json").write_text('{"0": "cat", "1": ["n0", "dog"]}')


def read_class_names(path: Path, dice: random.Random) -> None:
    """What a side file that names them leads to."""
    from robgui.core.model.class_names import read_names

    read_names(path)


# ---------------------------------------------------------------- pictures and meshes


def make_images(folder: Path) -> None:
    """Every format of pictures, grey, with colours, with a palette, with transparency."""
    from PIL import Image

    picture = Image.fromarray(PIXELS)
    for suffix in (".png", ".jpg", ".bmp", ".gif", ".tiff", ".webp", ".ppm"):
        picture.save(place(folder, suffix[1:], suffix))
    picture.convert("P").save(place(folder, "palette", ".png"))
    picture.convert("RGBA").save(place(folder, "transparent", ".png"))
    picture.convert("I;16").save(place(folder, "deep", ".png"))
    picture.save(place(folder, "packed", ".tiff"), compression="tiff_lzw")
    picture.save(place(folder, "progressive", ".jpg"), progressive=True, exif=b"Exif\0\0MM\0*")


def spoil_images(content: bytes, dice: random.Random, seed: str) -> bytes:
    """Sizes in the head of a PNG with right checksums, or bytes, more often near the start."""
    if content[:4] == b"\x89PNG" and dice.random() < 0.5:
        import zlib

        data = bytearray(content)
        place = 16 + dice.choice((0, 4))
        data[place : place + 4] = dice.choice((0, 1, 70_000, 63_000_000, 2**31 - 1)).to_bytes(4)
        data[24] = dice.choice((1, 2, 4, 8, 16, 3))
        data[25] = dice.choice((0, 2, 3, 4, 6, 1))
        data[29:33] = zlib.crc32(bytes(data[12:29])).to_bytes(4)
        return bytes(data)
    if dice.random() < 0.5:
        return noise(content[:80], dice) + content[80:]
    return noise(content, dice)


def make_meshes(folder: Path) -> None:
    """Every format of meshes; an OBJ with material and texture, a glTF with its buffer."""
    import trimesh
    from PIL import Image

    box = trimesh.creation.icosphere(subdivisions=1)
    for suffix in (".obj", ".stl", ".off", ".glb"):
        box.export(place(folder, suffix[1:], suffix))
    box.export(place(folder, "ply", ".ply"))
    box.export(place(folder, "ascii", ".ply"), encoding="ascii")
    box.export(place(folder, "ascii", ".stl"), file_type="stl_ascii")
    source = resources.path("meshes", "teapot.ply").read_bytes()
    place(folder, "teapot", ".ply").write_bytes(source)
    textured = place(folder, "textured", ".obj")
    textured.write_text(
        "mtllib main.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0 0\nvt 1 0\nvt 0 1\n"
        "usemtl m\nf 1/1 2/2 3/3\nf 1/1 3/3 4/2\nf 2/1 3/2 4/3\n",
        encoding="utf-8",
    )
    textured.with_name("main.mtl").write_text("newmtl m\nKd 1 0 0\nmap_Kd main.png\n")
    Image.fromarray(PIXELS).save(textured.with_name("main.png"))
    scene = place(folder, "gltf", ".gltf")
    for name, content in trimesh.Scene(box).export(file_type="gltf").items():
        (scene if name.endswith(".gltf") else scene.with_name(name)).write_bytes(content)


def spoil_meshes(content: bytes, dice: random.Random, seed: str) -> bytes:
    """The JSON of glTF, text, or bytes."""
    if content[:4] == b"glTF" and dice.random() < 0.7:
        length = int.from_bytes(content[12:16], "little")
        head = json_bytes(content[20 : 20 + length], dice)
        head += b" " * (-len(head) % 4)
        body = len(head).to_bytes(4, "little") + content[16:20] + head + content[20 + length :]
        return content[:8] + (12 + len(body)).to_bytes(4, "little") + body
    if content[:1] == b"{":
        return json_bytes(content, dice)
    is_text = b"\0" not in content[:300] and len(content) < 50_000
    return text(content, dice) if is_text and dice.random() < 0.8 else noise(content, dice)


def draw_mesh(path: Path, dice: random.Random) -> None:
    """One small picture of the mesh."""
    import torch

    from robgui.analyses.semantic.scene.mesh_scene import MeshScene
    from robgui.analyses.semantic.scene.meshes.file import read_mesh

    scene = MeshScene(read_mesh(path), (3, 24, 24), "cpu")
    middle = torch.tensor([[(axis.low + axis.high) / 2 for axis in scene.axes]])
    scene.images(middle)


def import_meshes() -> None:
    """What drawing a mesh imports late."""
    import torch
    import trimesh

    import robgui.analyses.semantic.scene.mesh_scene  # noqa: F401

    torch.set_num_threads(1)
    assert trimesh


def kinds() -> list[Kind]:
    """Every kind of data."""
    return [
        Kind("array", 75, make_arrays, spoil_arrays, open_and_read, import_readers),
        Kind("table", 60, make_tables, spoil_tables, open_and_read, import_readers),
        Kind("names", 15, make_names, spoil_tables, read_class_names, import_readers),
        Kind("image", 60, make_images, spoil_images, open_and_read, import_readers),
        Kind("mesh", 60, make_meshes, spoil_meshes, draw_mesh, import_meshes),
    ]
