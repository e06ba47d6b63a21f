"""Makes this folder's meshes from the originals in LICENSES.md: ``python make.py FOLDER``.

FOLDER holds ``teapot.obj`` and the folders of the scanned objects, each with ``model.obj`` and
``texture.png``.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import numpy as np
import PIL.Image
import trimesh
from trimesh.visual.material import PBRMaterial
from trimesh.visual.texture import TextureVisuals

HERE = Path(__file__).resolve().parent
SCANS = {
    "scanned_mug": "Room_Essentials_Mug_White_Yellow",
    "scanned_pitcher": "Threshold_Porcelain_Pitcher_White",
}
TEXTURE_SIDE = 512


def centred(vertices: np.ndarray) -> np.ndarray:
    """Float32 places with the longest side from -1 to 1."""
    low, high = vertices.min(0), vertices.max(0)
    return ((vertices - (low + high) / 2) / ((high - low).max() / 2)).astype(np.float32)


def make_teapot(source: Path) -> None:
    """The teapot without changes but its size, as binary PLY."""
    mesh = trimesh.load_mesh(source / "teapot.obj", process=False)
    smaller = trimesh.Trimesh(centred(mesh.vertices), mesh.faces, process=False)
    (HERE / "teapot.ply").write_bytes(smaller.export(file_type="ply", vertex_normal=False))


def make_scan(source: Path, name: str) -> None:
    """A scanned object, y up, with a smaller texture, as GLB."""
    mesh = trimesh.load_mesh(source / SCANS[name] / "model.obj", process=False)
    image = (
        PIL.Image.open(source / SCANS[name] / "texture.png")
        .convert("RGB")
        .resize((TEXTURE_SIDE, TEXTURE_SIDE), PIL.Image.Resampling.BOX)
    )
    packed = io.BytesIO()
    image.save(packed, "JPEG", quality=90)
    material = PBRMaterial(
        baseColorTexture=PIL.Image.open(packed), metallicFactor=0.0, roughnessFactor=1.0
    )
    upright = centred(mesh.vertices[:, [0, 2, 1]] * [1, 1, -1])
    made = trimesh.Trimesh(
        upright,
        mesh.faces,
        visual=TextureVisuals(uv=mesh.visual.uv, material=material),
        process=False,
    )
    (HERE / f"{name}.glb").write_bytes(made.export(file_type="glb", include_normals=False))


def main() -> None:
    """Makes all files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    source = parser.parse_args().source
    make_teapot(source)
    for name in SCANS:
        make_scan(source, name)


if __name__ == "__main__":
    main()
