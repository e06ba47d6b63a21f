"""ImageScene: differentiable transforms of one input image.

In this order: rotation, scaling, shearing and shifting; blur; contrast, brightness, saturation and
hue; noise; an occluding square. Each does exactly nothing at its usual value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import grid_sample

from robgui.analyses.semantic.scene.axes import OCCLUDER, image_axes
from robgui.analyses.semantic.scene.mesh_scene import LUMINANCE
from robgui.core.devices import to_host
from robgui.core.errors import DataError

#: Grey of the occluding square.
OCCLUDER_GREY = 0.5


class ImageScene:
    """One image and what can be done to it; a Scene.

    Attributes:
        name: What to call it.
        axes: Its parameters; a grey image has no saturation and no hue.
        exact_gradient: True: the transforms are smooth, so autograd is right and cheaper.
        image: ``(c, h, w)`` the input.

    Args:
        image: ``(c, h, w)`` in [0, 1], grey or colour.
        name: What to call it.
        seed: Of the one noise picture that the noise level scales.
    """

    exact_gradient = True

    def __init__(self, image: Tensor, name: str = "image", seed: int = 0) -> None:
        if image.dim() != 3 or image.shape[0] not in (1, 3):
            raise DataError(
                f"{name} has the shape {tuple(image.shape)}; only grey and colour images can be"
                " transformed."
            )
        self.name = name
        self.image = image.detach().float()
        self.axes = image_axes(image.shape[0] == 3, min(image.shape[1:]))
        self._column = {axis.name: i for i, axis in enumerate(self.axes)}
        device = image.device
        generator = torch.Generator(device).manual_seed(seed)
        # One noise picture for all values: the noise level then varies smoothly.
        self._noise = torch.randn(self.image.shape, generator=generator, device=device)
        self._usual = torch.tensor([axis.default for axis in self.axes], device=device)
        placing = [self._column[name] for name in sorted(_PLACING)]
        self._placing = torch.tensor(placing, device=device)

    def images(self, values: Tensor, moved: Sequence[bool] | None = None) -> Tensor:
        """Parameters ``(m, len(axes))`` -> images ``(m, c, h, w)`` in [0, 1].

        Differentiable, the input itself at the usual values.
        """
        values = values.float()
        changed = values.detach() != self._usual
        # A transform at its usual value does nothing, but its gradient may be wanted.
        if moved is None:
            moved_axes = to_host(changed.any(0))[0].tolist()
        else:
            moved_axes = moved
        if values.requires_grad:
            used = [True] * len(self.axes)
        else:
            used = moved_axes
        column = dict(zip(self._column, values.unbind(1), strict=True))
        wanted = {name for name, use in zip(self._column, used, strict=True) if use}
        x = self.image.expand(len(values), -1, -1, -1)
        if wanted & _PLACING:
            placed = self._placed(column)
            still = ~changed[:, self._placing].any(1)
            # The value of the untouched image with the gradient of the moved one.
            x = torch.where(still[:, None, None, None], x + (placed - placed.detach()), placed)
        # At 0 the derivative by the deviation is 0, so the transform may be skipped even for
        # gradients.
        if "blur" in wanted and moved_axes[self._column["blur"]]:
            x = _blurred(x, column["blur"])
        x = _coloured(x, column, wanted)
        if "noise" in wanted:
            x = x + _wide(column["noise"] / 100) * self._noise
        if wanted & {"occluder_x", "occluder_y"}:
            x = _occluded(x, column["occluder_x"] / 100, column["occluder_y"] / 100)
        return x.clamp(0, 1)

    def _placed(self, column: dict[str, Tensor]) -> Tensor:
        """The image rotated, scaled, sheared and moved about its centre.

        The border is extended outwards.
        """
        _, height, width = self.image.shape
        turn, shear = (
            column["rotation"].double().deg2rad(),
            column["shear"].double().deg2rad().tan(),
        )
        scale = column["scale"].double() / 100
        # Divided by the scale: sampling goes from the new image back to the old one.
        cosine, sine = turn.cos() / scale, turn.sin() / scale
        # Pixel centres, so an even side turns about the point between its two middle pixels.
        y, x = (torch.arange(side, device=turn.device) - (side - 1) / 2 for side in (height, width))
        x = (x - _tall(column["shift_x"] / 100 * width))[:, None, :]
        y = (y - _tall(column["shift_y"] / 100 * height))[:, :, None]
        # From places in the new image to places in the old one, in pixels from the centre, y down.
        to_x = [
            values.float()[:, None, None]
            for values in (cosine - shear * sine, -sine - shear * cosine)
        ]
        to_y = [values.float()[:, None, None] for values in (sine, cosine)]
        grid = torch.stack(
            [(to_x[0] * x + to_x[1] * y) * (2 / width), (to_y[0] * x + to_y[1] * y) * (2 / height)],
            3,
        )
        return grid_sample(
            self.image.expand(len(turn), -1, -1, -1),
            grid,
            mode="bilinear",
            padding_mode="border",
            align_corners=False,
        )


_PLACING = {"rotation", "scale", "shift_x", "shift_y", "shear"}


def _wide(values: Tensor) -> Tensor:
    """``(m,)`` as ``(m, 1, 1, 1)``."""
    return values[:, None, None, None]


def _tall(values: Tensor) -> Tensor:
    """``(m,)`` as ``(m, 1)``."""
    return values[:, None]


def _blurred(x: Tensor, deviation: Tensor) -> Tensor:
    """Each image blurred by a Gaussian of its own standard deviation in pixels.

    The weights add up to 1 at the border too. One matrix product per direction: no kernel is cut
    off, and 0 pixels does exactly nothing.
    """
    height, width = x.shape[2:]
    rows, columns = (_gaussians(side, deviation) for side in (height, width))
    return rows[:, None] @ x @ columns[:, None].transpose(2, 3)


def _gaussians(side: int, deviation: Tensor) -> Tensor:
    """Weights ``(m, side, side)`` of old places (last) at new ones."""
    place = torch.arange(side, device=deviation.device)
    squares = (place[:, None] - place).square()
    # Below a standard deviation of 0.03 pixels the matrix is the identity to single precision.
    weights = (-squares / (2 * deviation.square().clamp_min(1e-3))[:, None, None]).exp()
    return weights / weights.sum(2, keepdim=True)


def _coloured(x: Tensor, column: dict[str, Tensor], wanted: set[str]) -> Tensor:
    if "contrast" in wanted:
        # Written as x plus a change that is exactly 0 at the usual value.
        x = x + _wide(column["contrast"] / 100 - 1) * (x - x.mean((1, 2, 3), keepdim=True))
    if "brightness" in wanted:
        x = x + _wide(column["brightness"] / 100)
    if "saturation" in wanted:
        red, green, blue = (x[:, i : i + 1] for i in range(3))
        grey = red * LUMINANCE[0] + green * LUMINANCE[1] + blue * LUMINANCE[2]
        x = x + _wide(column["saturation"] / 100 - 1) * (x - grey)
    if "hue" in wanted:
        return _hue_turned(x, column["hue"])
    return x


def _hue_turned(x: Tensor, degrees: Tensor) -> Tensor:
    """Colours rotated about the grey axis (Rodrigues' formula); grey stays grey."""
    angle = degrees.double().deg2rad()
    sine, versine = (
        _wide((angle.sin() / math.sqrt(3)).float()),
        # 1 - cos θ = 2 sin²(θ/2), which keeps its digits for small angles.
        _wide((2 * (angle / 2).sin().square()).float()),
    )
    across = x.roll(1, 1) - x.roll(-1, 1)
    return x + sine * across + versine * (x.mean(1, keepdim=True) - x)


def _occluded(x: Tensor, centre_x: Tensor, centre_y: Tensor) -> Tensor:
    """Adds a grey square at a place given in shares of the image.

    A pixel takes as much grey as it is covered.
    """
    height, width = x.shape[2:]
    # Per cent, and half of the side.
    half = OCCLUDER / 200 * min(height, width)
    across = _covered(centre_x * width, half, width)[:, None, None, :]
    down = _covered(centre_y * height, half, height)[:, None, :, None]
    return x + across * down * (OCCLUDER_GREY - x)


def _covered(centre: Tensor, half: float, side: int) -> Tensor:
    """The share ``(m, side)`` of each pixel of a row that lies within ``half`` of the centre."""
    left = torch.arange(side, device=centre.device)
    return (
        torch.minimum(left + 1, _tall(centre + half)) - torch.maximum(left, _tall(centre - half))
    ).clamp(0, 1)
