"""Reads a mesh file and the files it names, in UTF-8 and from its own folder only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robgui.core.regular import beside, read_regular

#: Formats that are text throughout, which the reader decodes as UTF-8.
_TEXT = (".obj", ".off", ".mtl", ".gltf")
#: Binary STL: an 80-byte header and the number of faces, then 50 bytes for each face.
_STL_HEAD, _STL_FACE = 84, 50
_PLY_END = b"end_header"


def mesh_bytes(path: Path, largest: int) -> bytes:
    """The content of a plain file; its text, in whatever alphabet, as UTF-8."""
    content = read_regular(path, largest)
    suffix = path.suffix.lower()
    if suffix in _TEXT or (suffix == ".stl" and not _is_binary_stl(content)):
        return _utf8(content)
    if suffix == ".ply":
        head, end, body = content.partition(_PLY_END)
        # Only the header is text; a comment in another alphabet would stop the reader.
        return head.decode("ascii", "replace").encode("ascii", "replace") + end + body
    return content


def folder_resolver(folder: Path, largest: int) -> Any:
    """What trimesh asks for the materials, textures and buffers of a mesh."""
    from trimesh.resolvers import FilePathResolver

    class Folder(FilePathResolver):
        """Finds plain files in the folder of the mesh or below it."""

        def get(self, name: str) -> bytes:
            """The content of a file; OSError if it is missing, too large or somewhere else."""
            return mesh_bytes(beside(folder, name.strip()), largest)

    return Folder(str(folder))


def _is_binary_stl(content: bytes) -> bool:
    return len(content) >= _STL_HEAD and len(content) == _STL_HEAD + _STL_FACE * int.from_bytes(
        content[80:84], "little"
    )


def _utf8(content: bytes) -> bytes:
    try:
        content.decode()
    except UnicodeDecodeError:
        # What Windows programs wrote before UTF-8.
        return content.decode("cp1252", "replace").encode()
    return content
