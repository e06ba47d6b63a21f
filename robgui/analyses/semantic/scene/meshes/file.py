"""Reads meshes through trimesh: OBJ, PLY, STL, OFF, GLB and glTF.

Nothing in them is executed and nothing is downloaded.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from robgui.analyses.semantic.scene.meshes.contents import folder_resolver, mesh_bytes
from robgui.analyses.semantic.scene.meshes.mesh import Mesh, make_mesh
from robgui.analyses.semantic.scene.meshes.paint import Paint, painted
from robgui.core.dataset.images import LARGEST_SIDE
from robgui.core.errors import DataError
from robgui.core.regular import open_regular

Up = Literal["auto", "y", "z"]

#: Endings and the axis that usually points up in such files.
FORMATS: dict[str, Literal["y", "z"]] = {
    ".obj": "y",
    ".glb": "y",
    ".gltf": "y",
    ".ply": "z",
    ".stl": "z",
    ".off": "z",
}
#: Largest file; more would need several GB while reading.
LARGEST_FILE = 512 * 2**20
#: Most faces, with copies of parts counted, and most numbers that a glTF file may announce.
MOST_FACES_READ, MOST_NUMBERS = 10_000_000, 100_000_000
#: A texture with more pixels is not unpacked; one with a longer side than the second is averaged
#: down.
MOST_TEXELS, LARGEST_TEXTURE = 64_000_000, 2048
#: File names that say nothing about the object; scans come as a folder with such a file and its
#: texture.
_ANY_OBJECT = ("model", "mesh", "object", "scene", "textured")


@dataclass(frozen=True, slots=True)
class _Part:
    """One piece of a file: places, faces and how they are coloured."""

    vertices: np.ndarray
    faces: np.ndarray
    paint: Paint


def read_mesh(path: str | Path, up: Up = "auto") -> Mesh:
    """The mesh in a file.

    Args:
        path: The file; its ending tells the format.
        up: The axis that points up in the file; auto takes y for OBJ and glTF and z for the others.

    Raises:
        DataError: The file is missing, damaged, too large or holds no surface; the sentence says
            which.
    """
    path = Path(path)
    usual = FORMATS.get(path.suffix.lower())
    if usual is None:
        raise DataError(
            f"{path.name}: meshes are read from {', '.join(FORMATS)} files; save it as one of"
            " these."
        )
    if not path.is_file():
        raise DataError(f"{path}: there is no such mesh file.")
    if path.stat().st_size > LARGEST_FILE:
        raise DataError(
            f"{path.name} is larger than {LARGEST_FILE // 2**20} MB; simplify the mesh first."
        )
    if path.suffix.lower() in {".glb", ".gltf"}:
        _check_gltf(path)
    parts = _parts(path)
    image = next((part.paint.image for part in parts if part.paint.image is not None), None)
    textured = image is not None and len(parts) == 1
    notes = [f"{_name(path)}: {note}" for part in parts for note in part.paint.ignored]
    if image is not None and not textured:
        notes.append(f"{_name(path)}: its textures are drawn as one colour for each vertex.")
    vertices = np.concatenate([part.vertices for part in parts])
    if (usual if up == "auto" else up) == "z":
        # A rotation, so left and right stay: exchanging two axes alone would mirror the mesh.
        vertices = vertices[:, [0, 2, 1]] * [1, 1, -1]
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    return make_mesh(
        vertices,
        np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=False)]),
        name=_name(path),
        colours=np.concatenate(
            [part.paint.colours if textured else _flat_colours(part.paint) for part in parts]
        ),
        uv=parts[0].paint.uv if textured else None,
        texture=_pixels(image, path.name) if textured else None,
        notes=tuple(dict.fromkeys(notes)),
    )


def _parts(path: Path) -> list[_Part]:
    import trimesh

    try:
        scene = trimesh.load_scene(
            io.BytesIO(mesh_bytes(path, LARGEST_FILE)),
            file_type=path.suffix.lower()[1:],
            resolver=folder_resolver(path.parent, LARGEST_FILE),
            process=False,
            allow_remote=False,
        )
        placed = [
            (scene.graph[node][0], scene.geometry[scene.graph[node][1]])
            for node in scene.graph.nodes_geometry
        ]
        surfaces = [
            (place, surface)
            for place, surface in placed
            if isinstance(surface, trimesh.Trimesh) and len(surface.faces)
        ]
        total = sum(len(surface.faces) for _, surface in surfaces)
        if total > MOST_FACES_READ:
            raise DataError(
                f"{path.name} has {total:,} faces with all copies of its parts; at most"
                f" {MOST_FACES_READ:,} are read."
            )
        parts = [_part(surface, place, path) for place, surface in surfaces]
    except (DataError, MemoryError):
        raise
    except Exception as error:  # A foreign file raises anything; it becomes one sentence.
        if str(error):
            words = str(error).splitlines()[0][:200]
        else:
            words = type(error).__name__
        raise DataError(f"{path.name} cannot be read as a mesh: {words}.") from error
    if not parts:
        raise DataError(
            f"{path.name} has no faces; save it as a surface of triangles, not as points or lines."
        )
    return parts


def _part(surface: Any, place: np.ndarray, path: Path) -> _Part:
    vertices = np.asarray(surface.vertices, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        vertices = vertices @ place[:3, :3].T + place[:3, 3]
    paint = painted(surface.visual, len(vertices), lambda: _beside(path))
    return _Part(vertices, np.asarray(surface.faces, dtype=np.int64), paint)


def _beside(path: Path) -> Any:
    """A texture beside an OBJ file whose material file is missing, as scans are often shared."""
    import PIL.Image

    for name in ("texture", path.stem):
        for ending in (".png", ".jpg", ".jpeg"):
            found = path.with_name(name + ending)
            if path.suffix.lower() == ".obj" and found.is_file():
                return PIL.Image.open(io.BytesIO(mesh_bytes(found, LARGEST_FILE)))
    return None


def _name(path: Path) -> str:
    """The mesh's name: its file's, or its folder's if all objects share one file name."""
    folder = path.resolve().parent.name
    if path.stem.lower() in _ANY_OBJECT and folder:
        return folder.replace("_", " ")
    return path.stem


def _pixels(image: Any, name: str) -> np.ndarray:
    """The texture as float32 ``(h, w, 3)``."""
    if image.size[0] * image.size[1] > MOST_TEXELS or max(image.size) > LARGEST_SIDE:
        raise DataError(
            f"{name}: its texture of {image.size[0]:,} × {image.size[1]:,} pixels is too large;"
            " scale it down."
        )
    try:
        # A JPEG is then decoded at a half, quarter or eighth of its
        # size, without the whole in memory.
        image.draft("RGB", (LARGEST_TEXTURE, LARGEST_TEXTURE))
        small = image.convert("RGB")
        small.thumbnail((LARGEST_TEXTURE, LARGEST_TEXTURE))
    except (OSError, ValueError, SyntaxError) as error:
        raise DataError(f"{name}: its texture cannot be read: {error}.") from error
    return np.asarray(small, dtype=np.float32) / 255


def _flat_colours(paint: Paint) -> np.ndarray:
    """One colour per vertex, taken from its texture; used for files with several textures."""
    if paint.image is None or paint.uv is None:
        return paint.colours
    pixels = _pixels(paint.image, "a part of the mesh")
    height, width = pixels.shape[:2]
    u, v = np.nan_to_num(paint.uv).T
    # v counts from the bottom and both repeat outside [0, 1]; rounding may give the size itself.
    rows, columns = ((1 - v) % 1 * height).astype(int), (u % 1 * width).astype(int)
    return np.asarray(paint.colours * pixels[rows % height, columns % width])


def _check_gltf(path: Path) -> None:
    """Refuses a glTF file that announces more numbers than fit into memory."""
    try:
        with open_regular(path) as file:
            if path.suffix.lower() == ".glb":
                # A GLB file: a header of 12 bytes, then the
                # length and the kind of its first part, the JSON.
                length = int.from_bytes(file.read(20)[12:16], "little")
                document = json.loads(file.read(min(length, LARGEST_FILE)))
            else:
                document = json.loads(file.read())
        counts = [int(accessor["count"]) for accessor in document.get("accessors", [])]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(f"{path.name} is not a glTF file, or it is damaged.") from error
    if min(counts, default=0) < 0 or sum(counts) > MOST_NUMBERS:
        raise DataError(
            f"{path.name} announces {sum(counts):,} values; at most {MOST_NUMBERS:,} are read."
        )
