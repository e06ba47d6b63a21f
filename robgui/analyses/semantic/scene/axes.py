"""The parameters of scenes: their names, units and ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from robgui.analyses.semantic.params import IMAGE, SpaceParams
from robgui.analyses.semantic.scene.scene import SceneAxis
from robgui.core.errors import ParamsError

#: What varies by default, by what the scene has.
_USUAL = (("azimuth", "elevation"), ("rotation", "scale"))
#: Default ranges of a transformed image, in which a class has a chance: upside down or at half its
#: size hardly anything is recognised.
USUAL_RANGES = {"rotation": (-45.0, 45.0), "scale": (70.0, 130.0)}
#: Camera distance of the paper's renderer, as are 60° of view, ambient and directional light of one
#: half.
#: 1 + √3: the front of a box from -1 to 1 then just fills 60 degrees.
DISTANCE = 2.732
#: The parameters of every mesh scene, in the order of ``View``.
AXES = (
    SceneAxis("azimuth", "Azimuth", "°", 0.0, 360.0, 0.0, periodic=True),
    SceneAxis("elevation", "Elevation", "°", -10.0, 90.0, 35.0),
    SceneAxis("distance", "Camera distance", "", 1.8, 6.0, DISTANCE),
    SceneAxis("roll", "Roll", "°", -180.0, 180.0, 0.0, periodic=True),
    SceneAxis("light_azimuth", "Light azimuth", "°", 0.0, 360.0, 45.0, periodic=True),
    SceneAxis("light_elevation", "Light elevation", "°", -10.0, 90.0, 60.0),
    SceneAxis("light", "Light intensity", "%", 0.0, 100.0, 50.0),
    SceneAxis("ambient", "Ambient light", "%", 0.0, 100.0, 50.0),
    SceneAxis("object_red", "Object red", "%", 0.0, 100.0, 100.0),
    SceneAxis("object_green", "Object green", "%", 0.0, 100.0, 100.0),
    SceneAxis("object_blue", "Object blue", "%", 0.0, 100.0, 100.0),
    SceneAxis("background", "Background", "%", 0.0, 100.0, 100.0),
)
#: Side of the occluding square in per cent of the shorter side of the image.
OCCLUDER = 25.0
#: The place of an occluder that is just outside.
_OUTSIDE = -OCCLUDER / 2 - 5


def image_axes(colour: bool, side: int) -> tuple[SceneAxis, ...]:
    """What can be done to an image.

    Args:
        colour: Whether it has colours; a grey one has no saturation and no hue.
        side: Pixels of its shorter side.
    """
    hues = (
        SceneAxis("saturation", "Saturation", "%", 0.0, 200.0, 100.0),
        SceneAxis("hue", "Hue", "°", -180.0, 180.0, 0.0, periodic=True),
    )
    return (
        SceneAxis("rotation", "Rotation", "°", -180.0, 180.0, 0.0, periodic=True),
        SceneAxis("scale", "Scale", "%", 50.0, 150.0, 100.0),
        SceneAxis("shift_x", "Shift to the right", "%", -30.0, 30.0, 0.0),
        SceneAxis("shift_y", "Shift down", "%", -30.0, 30.0, 0.0),
        SceneAxis("shear", "Shear", "°", -30.0, 30.0, 0.0),
        SceneAxis("brightness", "Brightness", "%", -50.0, 50.0, 0.0),
        SceneAxis("contrast", "Contrast", "%", 0.0, 200.0, 100.0),
        *(hues if colour else ()),
        SceneAxis("blur", "Blur", "px", 0.0, round(side / 14, 1), 0.0),
        SceneAxis("noise", "Noise", "%", 0.0, 30.0, 0.0),
        SceneAxis("occluder_x", "Occluder from the left", "%", _OUTSIDE, 100 - _OUTSIDE, _OUTSIDE),
        SceneAxis("occluder_y", "Occluder from the top", "%", _OUTSIDE, 100 - _OUTSIDE, 50.0),
    )


def varied(axes: Sequence[SceneAxis], params: SpaceParams, spec: str) -> tuple[SceneAxis, ...]:
    """The varied parameters, with the ranges from the settings.

    Args:
        axes: The parameters of the scene, including every one that the settings name.
        params: The settings.
        spec: Which scene.
    """
    known = {axis.name: axis for axis in axes}
    usual_names = (names for names in _USUAL if set(names) <= set(known))
    names = params.axes or next(usual_names, tuple(known)[:2])
    ranges = ranges_of(params, spec)
    return tuple(_ranged(known[name], ranges.get(name)) for name in names)


def ranges_of(params: SpaceParams, spec: str) -> dict[str, tuple[float, float]]:
    """The ranges of a scene's parameters; those not named take their whole range."""
    if spec == IMAGE and params.span == "usual":
        return {**USUAL_RANGES, **params.ranges}
    return dict(params.ranges)


def _ranged(axis: SceneAxis, wanted: tuple[float, float] | None) -> SceneAxis:
    if wanted is None:
        return axis
    low, high = wanted
    period = axis.high - axis.low
    if axis.periodic and high - low <= period:
        # A part of a turn has ends and no longer leads around.
        return replace(axis, low=low, high=high, periodic=high - low == period)
    if low < axis.low or high > axis.high:
        raise ParamsError(
            f"ranges: {axis.name} goes from {axis.low:g} to {axis.high:g} {axis.unit}".rstrip()
            + f", not {low:g} to {high:g}."
        )
    return replace(axis, low=low, high=high)
