"""Meshes: bad ones are refused or mended, large ones simplified, files read with their colours."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
import trimesh
from trimesh.visual.material import PBRMaterial
from trimesh.visual.texture import SimpleMaterial, TextureVisuals

from robgui.analyses.semantic.scene.meshes import file as mesh_file
from robgui.analyses.semantic.scene.meshes.decimate import decimate
from robgui.analyses.semantic.scene.meshes.file import read_mesh
from robgui.analyses.semantic.scene.meshes.mesh import MOST_FACES, PLAIN, make_mesh
from robgui.analyses.semantic.scene.meshes.shapes import bundled, bundled_meshes
from robgui.core.errors import DataError

TRIANGLE = np.array([[0, 0, 0], [4, 0, 0], [0, 2, 0.0]])
ONE = np.array([[0, 1, 2]])


def sphere(subdivisions: int) -> trimesh.Trimesh:
    return trimesh.creation.icosphere(subdivisions=subdivisions)


@pytest.mark.parametrize("name", bundled_meshes())
def test_every_bundled_mesh_has_a_longest_side_from_minus_one_to_one(name: str) -> None:
    mesh = bundled(name)
    low, high = mesh.vertices.min(0), mesh.vertices.max(0)
    assert np.allclose(low, -high, atol=1e-5) and (high - low).max() == pytest.approx(2, abs=1e-5)
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1, atol=1e-4)
    assert len(mesh.faces) <= MOST_FACES and mesh.name and not mesh.notes
    assert mesh.textured == name.startswith("scanned")


def test_a_face_without_area_is_left_out_and_said() -> None:
    mesh = make_mesh(TRIANGLE, np.array([[0, 1, 2], [0, 0, 1], [1, 2, 1]]), name="thin")
    assert len(mesh.faces) == 1 and "2 of 3 faces have no area" in mesh.notes[0]


def test_a_corner_that_is_not_a_number_takes_its_faces_with_it() -> None:
    vertices = np.concatenate([TRIANGLE, [[np.nan, 0, 0], [np.inf, 0, 0]]])
    mesh = make_mesh(vertices, np.array([[0, 1, 2], [0, 1, 3], [1, 2, 4]]), name="holes")
    assert (
        len(mesh.faces) == 1
        and np.isfinite(mesh.vertices).all()
        and "2 of 3 faces" in mesh.notes[0]
    )


@pytest.mark.parametrize(
    ("vertices", "faces", "words"),
    [
        (TRIANGLE, np.zeros((0, 3)), "has no faces"),
        (TRIANGLE * np.nan, ONE, "no face has three corners that are numbers"),
        (TRIANGLE * 0, ONE, "all vertices lie at one place"),
        (TRIANGLE, np.array([[0, 1, 7]]), "names vertex 7"),
        (TRIANGLE, np.array([[0, -1, 2]]), "names vertex -1"),
        (TRIANGLE * [1, 0, 0], ONE, "no face has an area"),
        (TRIANGLE[:, :2], ONE, "rows of three numbers"),
        (TRIANGLE, np.array([[0, 1, 2, 0]]), "rows of three vertices"),
        (np.array([[-1e308, 0, 0], [1e308, 0, 0], [0, 1e308, 0]]), ONE, "too far apart"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_a_mesh_that_cannot_be_drawn_is_refused_in_one_sentence(
    vertices: np.ndarray, faces: np.ndarray, words: str
) -> None:
    with pytest.raises(DataError, match=words) as caught:
        make_mesh(vertices, faces, name="broken")
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)


def test_a_fine_sphere_is_simplified_and_stays_a_sphere() -> None:
    fine = sphere(6)
    mesh = make_mesh(fine.vertices, fine.faces, name="ball")
    assert len(fine.faces) == 81_920 and 8_000 < len(mesh.faces) <= MOST_FACES
    assert np.allclose(np.linalg.norm(mesh.vertices, axis=1), 1, atol=0.02)
    assert float((mesh.normals * mesh.vertices).sum(1).min()) > 0.9
    assert mesh.edges.always.mean() < 0.02  # still closed and smooth, but for a few cells
    assert "from 81,920 to" in mesh.notes[0]


def test_simplifying_keeps_seams_of_the_texture_apart() -> None:
    grid = np.stack(np.meshgrid(np.linspace(0, 1, 60), np.linspace(0, 1, 60)), -1).reshape(-1, 2)
    flat = np.concatenate([grid, np.zeros((3600, 1))], 1)
    cells = np.arange(59)[:, None] * 60 + np.arange(59)
    corners = np.stack([cells, cells + 1, cells + 60], -1).reshape(-1, 3)
    # two sheets side by side whose texture coordinates jump by 10 where they meet
    vertices, faces = (
        np.concatenate([flat, flat + np.array([1, 0, 0])]),
        np.concatenate([corners, corners + 3600]),
    )
    values = np.concatenate([grid, grid + 10])
    _, fewer, _, merged = decimate(vertices, faces, np.zeros((len(vertices), 0)), values, 500)
    assert 100 < len(fewer) <= 500 and (np.ptp(merged[fewer][:, :, 0], axis=1) < 1).all()


def test_simplifying_keeps_both_sides_of_a_thin_sheet_apart() -> None:
    sheet = trimesh.creation.box(extents=[2, 0.002, 2])
    for _ in range(5):
        sheet = sheet.subdivide()
    colours = np.where(sheet.vertices[:, 1:2] > 0, [1.0, 0, 0], [0, 0, 1.0])
    _, faces, merged, _ = decimate(
        sheet.vertices, sheet.faces, colours, np.zeros((len(sheet.vertices), 0)), 2000
    )
    assert 500 < len(faces) <= 2000
    mixed = (merged[:, 0] > 0.05) & (merged[:, 2] > 0.05)
    assert mixed.mean() < 0.2  # only the rim, where both sides meet


@pytest.mark.parametrize("count", [250, pytest.param(1000, marks=pytest.mark.slow)])
def test_two_million_faces_become_twenty_thousand_in_bounded_time(count: int) -> None:
    """An eighth of a million without the slow tests."""
    y, x = np.mgrid[0 : count + 1, 0 : count + 1].astype(np.float32)
    vertices = np.stack([x, y, 40 * np.sin(x / 90) * np.cos(y / 70)], -1).reshape(-1, 3)
    first = (np.arange(count)[:, None] * (count + 1) + np.arange(count)).reshape(-1)
    halves = [
        np.stack([first, first + 1, first + count + 1], 1),
        np.stack([first + 1, first + count + 2, first + count + 1], 1),
    ]
    start = time.thread_time()
    mesh = make_mesh(vertices, np.concatenate(halves), name="terrain")
    assert (
        mesh.notes[0].startswith(f"terrain was simplified from {2 * count**2:,} to")
        and 5_000 < len(mesh.faces) <= MOST_FACES
    )
    assert time.thread_time() - start < 30


@pytest.mark.parametrize("ending", ["obj", "ply", "stl", "off", "glb"])
def test_every_format_gives_the_same_surface(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"ball.{ending}"
    made = sphere(2)
    made.vertices = made.vertices * [1, 0.5, 0.25]
    made.export(path)
    mesh = read_mesh(path, up="y")
    assert mesh.name == "ball" and len(mesh.faces) == 320
    assert not mesh.textured and (mesh.colours == mesh.colours[0]).all()
    assert np.allclose(mesh.vertices.max(0), [1, 0.5, 0.25], atol=1e-5)
    upright = read_mesh(path, up="z")
    assert np.allclose(upright.vertices.max(0), [1, 0.25, 0.5], atol=1e-5)
    usual = read_mesh(path)
    assert np.allclose(usual.vertices, (mesh if ending in {"obj", "glb"} else upright).vertices)


def textured_square() -> trimesh.Trimesh:
    image = PIL.Image.new("RGB", (8, 8), (255, 0, 0))
    uv = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]])
    visual = TextureVisuals(uv=uv, material=SimpleMaterial(image=image))
    return trimesh.Trimesh(corners, [[0, 1, 2], [0, 2, 3]], visual=visual, process=False)


@pytest.mark.parametrize("ending", ["obj", "glb"])
def test_textures_are_read_from_the_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"square.{ending}"
    textured_square().export(path)
    mesh = read_mesh(path)
    assert mesh.textured and mesh.texture.shape == (8, 8, 3)
    assert np.allclose(mesh.texture, [1, 0, 0], atol=0.02) and np.allclose(mesh.colours, 1)


def test_a_texture_beside_an_obj_without_material_is_used(tmp_path: Path) -> None:
    (tmp_path / "model.obj").write_text(
        "mtllib lost.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n"
    )
    assert not read_mesh(tmp_path / "model.obj").textured
    PIL.Image.new("RGB", (4, 4), (0, 255, 0)).save(tmp_path / "texture.png")
    mesh = read_mesh(tmp_path / "model.obj")
    assert mesh.textured and np.allclose(mesh.texture, [0, 1, 0])


def test_a_file_name_that_fits_every_object_gives_way_to_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "White_Teapot"
    folder.mkdir()
    for name in ("model.obj", "lid.obj"):
        sphere(1).export(folder / name)
    assert [read_mesh(folder / name).name for name in ("model.obj", "lid.obj")] == [
        "White Teapot",
        "lid",
    ]


def test_vertex_colours_are_read_from_the_file(tmp_path: Path) -> None:
    ball = sphere(1)
    ball.visual.vertex_colors = np.tile(
        np.array([0, 0, 255, 255], dtype=np.uint8), (len(ball.vertices), 1)
    )
    ball.export(tmp_path / "blue.ply")
    assert np.allclose(read_mesh(tmp_path / "blue.ply").colours, [0, 0, 1])
    sphere(1).export(tmp_path / "plain.stl")
    assert np.allclose(read_mesh(tmp_path / "plain.stl").colours, PLAIN)


RED = [200, 40, 40, 255]


def material_box(material: object, uv: bool, **attributes: np.ndarray) -> trimesh.Trimesh:
    box = trimesh.creation.box()
    places = np.random.default_rng(0).random((len(box.vertices), 2)) if uv else None
    box.visual = TextureVisuals(uv=places, material=material)
    box.visual.vertex_attributes.update(attributes)
    return box


@pytest.mark.parametrize("uv", [False, True])
def test_the_colour_of_a_glb_material_is_read_with_and_without_places_in_a_texture(
    tmp_path: Path, uv: bool
) -> None:
    material_box(PBRMaterial(baseColorFactor=RED), uv).export(tmp_path / "red.glb")
    mesh = read_mesh(tmp_path / "red.glb")
    assert np.allclose(mesh.colours, np.array(RED[:3]) / 255, atol=0.005) and not mesh.notes


def test_the_colour_of_a_glb_material_is_a_factor_of_its_texture_and_of_vertex_colours(
    tmp_path: Path,
) -> None:
    image = PIL.Image.new("RGB", (8, 8), (128, 255, 128))
    both = PBRMaterial(baseColorFactor=RED, baseColorTexture=image)
    material_box(both, True).export(tmp_path / "both.glb")
    mesh = read_mesh(tmp_path / "both.glb")
    assert mesh.textured and np.allclose(mesh.colours, np.array(RED[:3]) / 255, atol=0.005)
    half = np.tile(np.array([128, 128, 128, 255], dtype=np.uint8), (8, 1))
    material_box(PBRMaterial(baseColorFactor=RED), True, color=half).export(tmp_path / "dim.glb")
    dim = read_mesh(tmp_path / "dim.glb").colours
    assert np.allclose(dim, np.array(RED[:3]) / 255 * 128 / 255, atol=0.005)


def test_obj_materials_give_their_faces_their_colour(tmp_path: Path) -> None:
    (tmp_path / "two.mtl").write_text("newmtl red\nKd 0.8 0.1 0.1\nnewmtl blue\nKd 0.1 0.1 0.8\n")
    corners = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
    faces = "usemtl red\nf 1 2 3\nusemtl blue\nf 1 3 4\n"
    (tmp_path / "two.obj").write_text(f"mtllib two.mtl\n{corners}{faces}")
    mesh = read_mesh(tmp_path / "two.obj")
    found = {tuple(colour) for colour in mesh.colours.astype(float).round(2).tolist()}
    assert found == {(0.8, 0.1, 0.1), (0.1, 0.1, 0.8)} and not mesh.textured and not mesh.notes


def test_what_a_picture_cannot_show_is_said(tmp_path: Path) -> None:
    glass = PBRMaterial(baseColorFactor=[200, 40, 40, 90], alphaMode="BLEND")
    material_box(glass, False).export(tmp_path / "glass.glb")
    assert any("drawn opaque" in note for note in read_mesh(tmp_path / "glass.glb").notes)
    bumps = PIL.Image.new("RGB", (8, 8), (128, 128, 255))
    bumpy = PBRMaterial(baseColorFactor=RED, normalTexture=bumps)
    material_box(bumpy, True).export(tmp_path / "bumpy.glb")
    assert any("a map of normals" in note for note in read_mesh(tmp_path / "bumpy.glb").notes)
    (tmp_path / "lost.obj").write_text(
        "mtllib lost.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n"
        "usemtl gone\nf 1/1 2/2 3/3\n"
    )
    lost = read_mesh(tmp_path / "lost.obj")
    assert lost.notes == ("lost: its material could not be read, so it is drawn grey.",)
    assert np.allclose(lost.colours, PLAIN)


def test_several_textures_become_vertex_colours(tmp_path: Path) -> None:
    scene = trimesh.Scene([textured_square(), textured_square().apply_translation([2, 0, 0])])
    scene.export(tmp_path / "two.glb")
    mesh = read_mesh(tmp_path / "two.glb")
    assert (
        len(mesh.faces) == 4
        and not mesh.textured
        and np.allclose(mesh.colours, [1, 0, 0], atol=0.02)
        and "one colour for each vertex" in mesh.notes[0]
    )


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("no.obj", b"v 0 0 0\nv 1 1 1\n", "no faces"),
        ("empty.ply", b"", "cannot be read as a mesh"),
        ("short.stl", b"solid", "no faces|cannot be read"),
        (
            "lies.ply",
            (
                b"ply\nformat binary_little_endian 1.0\nelement vertex 999999999999\nproperty float"
                b" x\nend_header\n"
            ),
            "cannot be read",
        ),
        ("text.off", b"hello", "cannot be read as a mesh"),
        ("noise.glb", bytes(range(256)), "not a glTF file"),
        (
            "points.ply",
            (
                b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float"
                b" y\nproperty float z\nend_header\n0 0 0\n"
            ),
            "no faces",
        ),
        ("shape.dae", b"<xml/>", "meshes are read from"),
    ],
)
def test_a_damaged_file_is_refused_in_one_sentence(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=words) as caught:
        read_mesh(tmp_path / name)
    assert (
        name in str(caught.value)
        and str(caught.value).endswith(".")
        and "\n" not in str(caught.value)
    )


def test_a_missing_or_too_large_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DataError, match="no such mesh file"):
        read_mesh(tmp_path / "gone.obj")
    monkeypatch.setattr(mesh_file, "LARGEST_FILE", 10)
    (tmp_path / "big.obj").write_text("v 0 0 0\nv 1 0 0\n")
    with pytest.raises(DataError, match="larger than"):
        read_mesh(tmp_path / "big.obj")


def test_a_gltf_file_that_announces_too_much_is_refused_before_memory_is_taken(
    tmp_path: Path,
) -> None:
    document = {
        "asset": {"version": "2.0"},
        "accessors": [{"count": 10**13, "componentType": 5126, "type": "VEC3"}],
    }
    (tmp_path / "bomb.gltf").write_text(json.dumps(document))
    with pytest.raises(DataError, match="announces 10,000,000,000,000 values"):
        read_mesh(tmp_path / "bomb.gltf")


def test_too_many_copies_of_a_part_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sphere(1).export(tmp_path / "ball.obj")
    monkeypatch.setattr(mesh_file, "MOST_FACES_READ", 79)
    with pytest.raises(DataError, match="80 faces"):
        read_mesh(tmp_path / "ball.obj")


def test_a_texture_that_is_too_large_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    textured_square().export(tmp_path / "square.glb")
    monkeypatch.setattr(mesh_file, "MOST_TEXELS", 63)
    with pytest.raises(DataError, match="texture of 8 × 8 pixels"):
        read_mesh(tmp_path / "square.glb")


def test_a_crease_has_one_normal_on_each_side_and_a_smooth_edge_one_for_both() -> None:
    assert len(bundled("box").vertices) == 24 and bundled("box").edges.always.sum() == 12
    ellipsoid = bundled("ellipsoid")
    assert (
        len(ellipsoid.vertices) == 2562
        and not ellipsoid.edges.always.any()
        and not ellipsoid.edges.turned.any()
    )


def test_faces_wound_against_each_other_are_told_apart() -> None:
    vertices = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]])
    mesh = make_mesh(vertices, np.array([[0, 1, 2], [0, 3, 2]]), name="wrong")
    assert mesh.edges.turned.sum() == 1 and np.abs(mesh.normals[:, 2]).min() == pytest.approx(1)
