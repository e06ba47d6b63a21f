"""How a part of a mesh file is coloured: vertices, materials and textures, and what is ignored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from robgui.analyses.semantic.scene.meshes.mesh import PLAIN

#: trimesh's colour for a missing material.
_NO_MATERIAL = (102, 102, 102)
#: Maps of a glTF material that the renderer does not support, with their names.
_MAPS = {
    "normalTexture": "a map of normals",
    "emissiveTexture": "a map of light",
    "metallicRoughnessTexture": "a map of roughness",
    "occlusionTexture": "a map of shadows",
}


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours of one part.

    Attributes:
        colours: ``(v, 3)`` in [0, 1], multiplied with the texture if there is one.
        uv: ``(v, 2)`` place in the texture; None without one.
        image: The texture as a PIL image, or None.
        ignored: What the file says and the picture does not show, without the name.
    """

    colours: np.ndarray
    uv: np.ndarray | None
    image: Any
    ignored: tuple[str, ...]


def painted(visual: Any, count: int, beside: Callable[[], Any]) -> Paint:
    """The colours of ``count`` vertices by what trimesh read.

    Args:
        visual: Colours, or a material with or without places in its texture.
        count: v.
        beside: Looks for a texture that the file does not name.
    """
    if visual.kind in {"vertex", "face"}:
        colours = np.asarray(visual.vertex_colors)
        return Paint(colours[:, :3] / 255, None, None, _transparent(colours))
    if visual.kind != "texture":
        return Paint(np.full((count, 3), PLAIN), None, None, ())
    material = visual.material
    uv = _places(visual.uv, count)
    image = _image(material) or (beside() if uv is not None else None)
    ignored = [*_transparent(_factor(material)), *_unknown_maps(material)]
    if image is not None and uv is None:
        ignored.append("its texture has no place on the surface and was left out.")
        image = None
    colours = np.broadcast_to(_colour(material, image is not None), (count, 3))
    if _factor(material) is None and image is None:
        ignored.append("its material could not be read, so it is drawn grey.")
    vertex = _vertex_colours(visual, count)
    if vertex is not None:
        colours = colours * vertex
    return Paint(colours, uv if image is not None else None, image, tuple(ignored))


def _places(uv: Any, count: int) -> np.ndarray | None:
    """Places in a texture, two numbers for each vertex; None if they are too few."""
    places = np.asarray([] if uv is None else uv, dtype=float)
    if places.ndim != 2 or len(places) != count or places.shape[1] < 2:
        return None
    return places[:, :2]


def _factor(material: Any) -> np.ndarray | None:
    """The colour of a material in [0, 255] with its opacity; None if it has none."""
    given = getattr(material, "baseColorFactor", None)
    if given is None:
        given = getattr(material, "diffuse", None)
    if given is None and hasattr(material, "baseColorFactor"):
        return np.full(4, 255.0)  # A glTF material is white unless it says otherwise.
    if given is None or tuple(np.asarray(given)[:3]) == _NO_MATERIAL:
        return None
    return np.asarray(given, dtype=np.float64)


def _colour(material: Any, textured: bool) -> np.ndarray:
    """Vertex colour: multiplies the texture in glTF, is replaced by it in OBJ."""
    factor = _factor(material)
    if textured and (factor is None or not hasattr(material, "baseColorFactor")):
        return np.ones(3)
    if factor is None:
        return np.full(3, PLAIN)
    return np.asarray(factor[:3] / 255)


def _vertex_colours(visual: Any, count: int) -> np.ndarray | None:
    """Vertex colours beside a material (COLOR_0 of glTF)."""
    known = getattr(visual, "vertex_attributes", None) or {}
    values = known.get("color")
    if values is None or len(values) != count:
        return None
    values = np.asarray(values)
    # glTF allows colours as floats or as normalised 8- and 16-bit integers.
    scale = np.iinfo(values.dtype).max if values.dtype.kind in "iu" else 1.0
    return np.asarray(values[:, :3] / scale)


def _image(material: Any) -> Any:
    """The picture of a material; None for the tiny one that stands for "none"."""
    image = getattr(material, "baseColorTexture", None) or getattr(material, "image", None)
    if image is not None and max(image.size) > 2:
        return image
    return None


def _transparent(colours: np.ndarray | None) -> tuple[str, ...]:
    if colours is None or colours.shape[-1] < 4 or (colours[..., 3] >= 255).all():
        return ()
    return ("it is partly transparent and is drawn opaque.",)


def _unknown_maps(material: Any) -> list[str]:
    named = (words for key, words in _MAPS.items() if getattr(material, key, None) is not None)
    return [f"{words} was left out." for words in named]
