"""The parameters of scenes: their names, units and ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from robgui.analyses.semantic.params import IMAGE, SpaceParams
from robgui.analyses.semantic.scene.scene import Axis
from robgui.core.errors import ParamsError

#: What varies when nobody says so, by what the scene has.
_USUAL = (("azimuth", "elevation"), ("rotation", "scale"))
#: Ranges of a transformed image in which a class has a chance: turned on its head or at half its
#: size hardly anything is recognised.
USUAL_RANGES = {"rotation": (-45.0, 45.0), "scale": (70.0, 130.0)}
#: Camera distance of the paper's renderer, as are 60° of view, ambient and directional light of one
#: half.
DISTANCE = 2.732
#: The parameters of every mesh scene, in the order of ``View``.
AXES = (
    Axis("azimuth", "Azimuth", "°", 0.0, 360.0, 0.0, periodic=True),
    Axis("elevation", "Elevation", "°", -10.0, 90.0, 35.0),
    Axis("distance", "Camera distance", "", 1.8, 6.0, DISTANCE),
    Axis("roll", "Roll", "°", -180.0, 180.0, 0.0, periodic=True),
    Axis("light_azimuth", "Light azimuth", "°", 0.0, 360.0, 45.0, periodic=True),
    Axis("light_elevation", "Light elevation", "°", -10.0, 90.0, 60.0),
    Axis("light", "Light intensity", "%", 0.0, 100.0, 50.0),
    Axis("ambient", "Ambient light", "%", 0.0, 100.0, 50.0),
    Axis("object_red", "Object red", "%", 0.0, 100.0, 100.0),
    Axis("object_green", "Object green", "%", 0.0, 100.0, 100.0),
    Axis("object_blue", "Object blue", "%", 0.0, 100.0, 100.0),
    Axis("background", "Background", "%", 0.0, 100.0, 100.0),
)
#: Side of the occluding square in per cent of the shorter side of the image.
OCCLUDER = 25.0
#: The place of an occluder that is just outside.
_OUTSIDE = -OCCLUDER / 2 - 5


def image_axes(colour: bool, side: int) -> tuple[Axis, ...]:
    """What can be done to an image.

    Args:
        colour: Whether it has colours; a grey one has no saturation and no hue.
        side: Pixels of its shorter side.
    """
    hues = (
        Axis("saturation", "Saturation", "%", 0.0, 200.0, 100.0),
        Axis("hue", "Hue", "°", -180.0, 180.0, 0.0, periodic=True),
    )
    return (
        Axis("rotation", "Rotation", "°", -180.0, 180.0, 0.0, periodic=True),
        Axis("scale", "Scale", "%", 50.0, 150.0, 100.0),
        Axis("shift_x", "Shift to the right", "%", -30.0, 30.0, 0.0),
        Axis("shift_y", "Shift down", "%", -30.0, 30.0, 0.0),
        Axis("shear", "Shear", "°", -30.0, 30.0, 0.0),
        Axis("brightness", "Brightness", "%", -50.0, 50.0, 0.0),
        Axis("contrast", "Contrast", "%", 0.0, 200.0, 100.0),
        *(hues if colour else ()),
        Axis("blur", "Blur", "px", 0.0, round(side / 14, 1), 0.0),
        Axis("noise", "Noise", "%", 0.0, 30.0, 0.0),
        Axis("occluder_x", "Occluder from the left", "%", _OUTSIDE, 100 - _OUTSIDE, _OUTSIDE),
        Axis("occluder_y", "Occluder from the top", "%", _OUTSIDE, 100 - _OUTSIDE, 50.0),
    )


def varied(axes: Sequence[Axis], params: SpaceParams, spec: str) -> tuple[Axis, ...]:
    """The parameters that vary, with the ranges that the settings name.

    Args:
        axes: The parameters of the scene, with every one that the settings name.
        params: The settings.
        spec: Which scene.
    """
    known = {axis.name: axis for axis in axes}
    usual_names = (names for names in _USUAL if set(names) <= set(known))
    names = params.axes or next(usual_names, tuple(known)[:2])
    usual = USUAL_RANGES if spec == IMAGE and params.span == "usual" else {}
    ranges = {**usual, **params.ranges}
    return tuple(_ranged(known[name], ranges.get(name)) for name in names)


def _ranged(axis: Axis, wanted: tuple[float, float] | None) -> Axis:
    if wanted is None:
        return axis
    low, high = wanted
    period = axis.high - axis.low
    if axis.periodic and high - low <= period:
        return replace(axis, low=low, high=high, periodic=high - low == period)
    if low < axis.low or high > axis.high:
        raise ParamsError(
            f"ranges: {axis.name} goes from {axis.low:g} to {axis.high:g} {axis.unit}".rstrip()
            + f", not {low:g} to {high:g}."
        )
    return replace(axis, low=low, high=high)
