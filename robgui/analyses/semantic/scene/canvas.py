"""Composes a picture: background, pixels that see a face, and pixels mixed at edges.

The gradient is written out: a chain of single operations would copy whole pictures back and forth,
though only the pixels of the object and the sum over the background matter.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from robgui.analyses.semantic.scene.outline import Mixing


def composed(
    background: Tensor, colour: Tensor, place: Tensor, mix: Mixing, size: tuple[int, int]
) -> Tensor:
    """Pictures ``(m, 3, h, w)`` in [0, 1], differentiable in colours and shares.

    Args:
        background: ``(m, 3)``.
        colour: ``(3, n)`` of the pixels that see a face.
        place: ``(n,)`` where these are, counted through all pictures.
        mix: Which pixels share colours at edges.
        size: Height and width.
    """
    pixels = size[0] * size[1]
    places = [_planar(one, pixels) for one in (place, mix.one, mix.two)]
    flat: Tensor = _Composed.apply(  # type: ignore[no-untyped-call]
        background, colour, mix.one_takes, mix.two_takes, *places, pixels
    )
    return flat.view(-1, 3, *size)


def _planar(place: Tensor, pixels: int) -> Tensor:
    """``(3, n)`` places of red, green and blue where the colours of a picture follow each other."""
    red = place + place.div(pixels, rounding_mode="floor") * (2 * pixels)
    return torch.stack([red, red + pixels, red + 2 * pixels])


class _Composed(torch.autograd.Function):
    """Colours ``(m · 3 · pixels,)``."""

    @staticmethod
    def forward(
        ctx: Any,
        background: Tensor,
        colour: Tensor,
        one_takes: Tensor,
        two_takes: Tensor,
        place: Tensor,
        one: Tensor,
        two: Tensor,
        pixels: int,
    ) -> Tensor:
        canvas = background.flatten().repeat_interleave(pixels)
        canvas.scatter_(0, place.flatten(), colour.flatten())
        first = canvas.index_select(0, one.flatten()).view_as(one)
        # Both pixels take from the colours before any mixing, so the order of the edges does not
        # matter.
        jump = canvas.index_select(0, two.flatten()).view_as(two) - first
        # Unlike index_add_, deterministic on a GPU too.
        canvas.index_put_((one,), one_takes * jump, accumulate=True)
        canvas.index_put_((two,), two_takes * -jump, accumulate=True)
        # Clamping is rare: without it the mask is not made, nor multiplied in the backward pass.
        low, high = canvas.aminmax()
        kept = None
        if bool((low < 0) | (high > 1)):
            kept = (canvas >= 0) & (canvas <= 1)
            canvas.clamp_(0, 1)
        ctx.save_for_backward(place, one, two, one_takes, two_takes, jump, kept)
        ctx.pixels = pixels
        return canvas

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> tuple[Tensor | None, ...]:
        place, one, two, one_takes, two_takes, jump, kept = ctx.saved_tensors
        gradient = given[0].clone() if kept is None else given[0] * kept
        of_one = gradient.index_select(0, one.flatten()).view_as(one)
        of_two = gradient.index_select(0, two.flatten()).view_as(two)
        # The derivative of the mix by the jump, which moves gradient from one pixel to the other.
        moved = one_takes * of_one - two_takes * of_two
        gradient.index_put_((two,), moved, accumulate=True)
        gradient.index_put_((one,), -moved, accumulate=True)
        colour = gradient.index_select(0, place.flatten()).view_as(place)
        # What the object's pixels do not take is the background's.
        background = gradient.scatter_(0, place.flatten(), 0).view(-1, 3, ctx.pixels).sum(2)
        takes = (of_one * jump).sum(0), -(of_two * jump).sum(0)
        return background, colour, *takes, None, None, None, None
