"""Colours of pixels under a light, from values that are linear on the screen.

The gradient is written out: a chain of single operations would write and read every pixel once for
each of them, forwards and backwards.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from robgui.analyses.semantic.scene.texture import Sampled, Texture


class Lamp(NamedTuple):
    """Light and tint of m pictures."""

    ambient: Tensor  # (m,)
    light: Tensor  # (m,)
    tint: Tensor  # (m, 3)


class SeenPixels(NamedTuple):
    """Pixels that see a face, ``n`` of them, sorted by picture."""

    slot: Tensor  # (n,) which column of the planes
    x: Tensor  # (n,) from the centre of the picture
    y: Tensor  # (n,)
    counts: list[int]  # (m,) how many each picture has


def lit_colours(planes: Tensor, lamp: Lamp, seen: SeenPixels, texture: Texture) -> Tensor:
    """Colours ``(3, n)`` of the pixels, differentiable in planes and lamp.

    A value ``q`` given at the corners is, divided by depth, linear on the screen; so is 1/depth;
    their quotient is q.

    Args:
        planes: ``(3 · k, u)`` coefficients over x, y, 1 of k values divided by depth: 1 itself, the
            cosine between normal and light, then colours (3) and the place in the texture (2),
            each if there is one.
        lamp: Light and tint of each picture.
        seen: The pixels.
        texture: Without texels if there is none.
    """
    colours: Tensor = _Lit.apply(planes, *lamp, seen, texture)  # type: ignore[no-untyped-call]
    return colours


class _Lit(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        planes: Tensor,
        ambient: Tensor,
        light: Tensor,
        tint: Tensor,
        seen: SeenPixels,
        texture: Texture,
    ) -> Tensor:
        a, b, c = planes.index_select(1, seen.slot).chunk(3)
        values = torch.addcmul(torch.addcmul(c, a, seen.x), b, seen.y)
        # Undo the division by depth: perspective-correct interpolation.
        depth = values[0].reciprocal()
        given = values[1:] * depth
        # One slice per picture: a lookup for every pixel is slower.
        cosines = torch.split(given[0].clamp_min(0), seen.counts)
        bright = [
            one + more * part for one, more, part in zip(ambient, light, cosines, strict=True)
        ]
        tinted = torch.cat([part * own[:, None] for part, own in zip(bright, tint, strict=True)], 1)
        sampled = texture.sample(given[-2], given[-1]) if texture.texels.numel() else None
        surface = _surface(given, sampled)
        saved = (light, tint, depth, given, torch.cat(bright), tinted, surface)
        ctx.save_for_backward(*saved, *(sampled or (None, None, None)))
        ctx.seen, ctx.texture, ctx.columns = seen, texture, planes.shape[1]
        return tinted if surface is None else tinted * surface

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        light, tint, depth, given, bright, tinted, surface, *sampled = ctx.saved_tensors
        (gradient,) = gradients
        of_tinted, rest = gradient, []
        if surface is not None:
            of_tinted = gradient * surface
            rest = _of_surface(gradient * tinted, given, Sampled(*sampled), ctx.texture)
        cosine = given[0].clamp_min(0)
        of_bright, of_lamp = _of_lamp(of_tinted, tint, bright, cosine, ctx.seen.counts)
        parts = zip(torch.split(of_bright, ctx.seen.counts), light, strict=True)
        of_cosine = torch.cat([part * one for part, one in parts]) * (given[0] >= 0)
        of_given = torch.cat([of_cosine[None], *rest])
        # given = values · depth and depth = 1 / values[0]
        of_values = torch.cat([-(of_given * given).sum(0)[None], of_given]) * depth
        # The gradient of a·x + b·y + c by (a, b, c), summed over the pixels of each face.
        rows = torch.cat([of_values * ctx.seen.x, of_values * ctx.seen.y, of_values])
        of_planes = rows.new_zeros((len(rows), ctx.columns)).index_add(1, ctx.seen.slot, rows)
        return of_planes, *of_lamp, None, None


def _surface(given: Tensor, sampled: Sampled | None) -> Tensor | None:
    """Colours ``(3, n)`` of the surface itself; None if it has one colour only."""
    if len(given) < 4:
        return None if sampled is None else sampled.colour
    if sampled is None:
        return given[1:4]
    return given[1:4] * sampled.colour


def _of_surface(
    gradient: Tensor, given: Tensor, sampled: Sampled, texture: Texture
) -> list[Tensor]:
    """The gradient by the surface's colour, taken on to its own colours and to the texture's place.

    Rows in the order of ``given`` after the cosine.
    """
    if not texture.texels.numel():
        return [gradient]
    rows, of_sampled = [], gradient
    if len(given) >= 4:
        rows, of_sampled = [gradient * sampled.colour], gradient * given[1:4]
    of_u = (of_sampled * sampled.across).sum(0) * texture.width
    of_v = (of_sampled * sampled.down).sum(0) * -texture.height
    return [*rows, of_u[None], of_v[None]]


def _of_lamp(
    gradient: Tensor, tint: Tensor, bright: Tensor, cosine: Tensor, counts: list[int]
) -> tuple[Tensor, tuple[Tensor, Tensor, Tensor]]:
    """The gradient by the brightness ``(n,)``, and by ambient light, light and tint."""
    of_bright = torch.cat(
        [
            (part * own[:, None]).sum(0)
            for part, own in zip(torch.split(gradient, counts, 1), tint, strict=True)
        ]
    )
    ambient, light, tints = (
        torch.stack([part.sum(-1) for part in torch.split(values, counts, -1)])
        for values in (of_bright, of_bright * cosine, gradient * bright)
    )
    return of_bright, (ambient, light, tints)
