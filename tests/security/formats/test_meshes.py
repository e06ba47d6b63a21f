"""Meshes: text in any encoding is read, and what a mesh names is looked for in its own folder
only.
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from robgui.analyses.semantic.scene.meshes.contents import folder_resolver, mesh_bytes
from robgui.analyses.semantic.scene.meshes.file import read_mesh
from robgui.core.errors import DataError
from tests.fuzz.kinds.data import draw_mesh
from tests.security.test_files import SECONDS, within

FACES = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n"
TEXTS = {
    "m.obj": b"# Gr\xfc\xdfe\no W\xfcrfel\n" + FACES,
    "m.off": b"OFF # \xfc\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 3\n3 0 2 3\n3 1 2 3\n",
    "m.stl": (
        b"solid W\xfcrfel\n"
        + b"facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1"
        b" 0\nendloop\nendfacet\n" * 4 + b"endsolid W\xfcrfel\n"
    ),
    "m.ply": (
        b"ply\nformat ascii 1.0\ncomment \xfc\nelement vertex 4\nproperty float x\nproperty float"
        b" y\nproperty float z\nelement face 4\nproperty list uchar int"
        b" vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 3\n3 0 2 3\n3 1"
        b" 2 3\n"
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_mesh_with_names_that_are_not_utf8_is_read(tmp_path, name):
    (tmp_path / name).write_bytes(TEXTS[name])
    assert len(read_mesh(tmp_path / name).faces) == 4


def test_binary_meshes_are_left_as_they_are(tmp_path):
    import trimesh

    box = trimesh.creation.box()
    for name in ("m.stl", "m.ply", "m.glb"):
        box.export(tmp_path / name)
        assert mesh_bytes(tmp_path / name, 10**9) == (tmp_path / name).read_bytes()
        assert len(read_mesh(tmp_path / name).faces) == 12


def test_a_material_with_a_name_that_is_not_utf8_gives_its_colour(tmp_path):
    (tmp_path / "m.mtl").write_bytes(b"newmtl gr\xfcn\nKd 0 1 0\n")
    (tmp_path / "m.obj").write_bytes(
        b"mtllib m.mtl\n" + FACES.replace(b"f 1 2 3", b"vt 0 0\nusemtl gr\xfcn\nf 1/1 2/1 3/1")
    )
    assert len(read_mesh(tmp_path / "m.obj").faces) == 4


@pytest.mark.parametrize(
    "name", ["../secret.mtl", "/etc/hostname", "pipe.mtl", "zero.mtl", "link.mtl"]
)
def test_a_mesh_reads_nothing_outside_its_folder_and_waits_for_no_pipe(tmp_path, name):
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "secret.mtl").write_text("newmtl a\nKd 0 1 0\n")
    (home / "link.mtl").symlink_to(tmp_path / "secret.mtl")
    (home / "zero.mtl").symlink_to("/dev/zero")
    os.mkfifo(home / "pipe.mtl")
    with pytest.raises(OSError, match=r"beside|plain file"):
        folder_resolver(home, 10**9).get(name)
    (home / "m.obj").write_bytes(f"mtllib {name}\n".encode() + FACES)
    assert within(SECONDS, lambda: read_mesh(home / "m.obj")) is None


def test_a_mesh_that_is_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "m.obj")
    assert isinstance(within(SECONDS, lambda: read_mesh(tmp_path / "m.obj")), DataError)


def test_a_texture_of_one_column_takes_no_gigabytes(tmp_path: Path):
    Image.fromarray(np.zeros((10_000_000, 1), np.uint8)).save(
        tmp_path / "texture.png", compress_level=9
    )
    textured = re.sub(rb"f (\d) (\d) (\d)", rb"f \1/1 \2/2 \3/3", FACES)
    (tmp_path / "m.obj").write_bytes(b"vt 0 0\nvt 1 0\nvt 0 1\n" + textured)
    with pytest.raises(DataError, match="too large"):
        read_mesh(tmp_path / "m.obj")


@pytest.mark.parametrize("numbers", ["0.5", "0.5 0.5", "0.5 0.5 0.5"])
def test_a_texture_is_drawn_with_as_many_numbers_for_a_place_as_there_are(tmp_path, numbers):
    """One number is allowed in an OBJ file, and is too few for a picture."""
    lines = FACES.replace(b"f 1 2 3", b"usemtl m\nf 1/1 2/1 3/1").replace(
        b"f 1 2 4", b"f 1/1 2/1 4/1"
    )
    text = b"mtllib m.mtl\n" + lines.replace(b"f 1 3 4\nf 2 3 4\n", b"")
    (tmp_path / "m.obj").write_bytes(text.replace(b"usemtl", f"vt {numbers}\nusemtl".encode()))
    (tmp_path / "m.mtl").write_text("newmtl m\nKd 1 0 0\nmap_Kd m.png\n")
    Image.fromarray(np.full((8, 8, 3), 90, np.uint8)).save(tmp_path / "m.png")
    mesh = read_mesh(tmp_path / "m.obj")
    assert len(mesh.uv) == (0 if numbers == "0.5" else len(mesh.vertices))
    draw_mesh(tmp_path / "m.obj", random.Random(0))
