"""Gradients that are written out, against differences and single operations."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

from robgui.analyses.semantic.scene.canvas import composed
from robgui.analyses.semantic.scene.corners import Corners
from robgui.analyses.semantic.scene.lighting import Lamp, SeenPixels, lit_colours
from robgui.analyses.semantic.scene.outline import Mixing
from robgui.analyses.semantic.scene.shading import Surface, planes_of
from robgui.analyses.semantic.scene.texture import Texture

SIZE = (3, 4)


def parts() -> tuple[Tensor, Tensor, Tensor, Mixing]:
    """Two pictures of 12 pixels: backgrounds, colours, their places and mixed pairs.

    One pixel is mixed twice, and some colours lie outside of [0, 1].
    """
    random = torch.Generator().manual_seed(0)

    def drawn(*size: int) -> Tensor:
        return torch.rand(size, generator=random, dtype=torch.float64)

    one, two = torch.tensor([1, 5, 5, 16]), torch.tensor([2, 6, 9, 20])
    mix = Mixing(one, two, drawn(4).requires_grad_(), drawn(4).requires_grad_())
    background, colour = 0.2 + 0.5 * drawn(2, 3), 4 * drawn(3, 7) - 1.5
    place = torch.tensor([1, 2, 5, 6, 12, 16, 23])
    return background.requires_grad_(), colour.requires_grad_(), place, mix


def by_single_operations(background: Tensor, colour: Tensor, place: Tensor, mix: Mixing) -> Tensor:
    """The same picture, pixel by pixel."""
    canvas = background.repeat_interleave(12, 0).index_copy(0, place, colour.t())
    jump = canvas[mix.two] - canvas[mix.one]
    canvas = canvas.index_put((mix.one,), mix.one_takes[:, None] * jump, accumulate=True)
    canvas = canvas.index_put((mix.two,), mix.two_takes[:, None] * -jump, accumulate=True)
    return canvas.view(2, *SIZE, 3).permute(0, 3, 1, 2).clamp(0, 1)


def test_a_picture_from_its_parts_is_that_of_single_operations_and_so_is_its_gradient() -> None:
    background, colour, place, mix = parts()
    wanted = background, colour, mix.one_takes, mix.two_takes
    pictures = [
        composed(background, colour, place, mix, SIZE),
        by_single_operations(background, colour, place, mix),
    ]
    assert torch.allclose(*pictures, rtol=0, atol=1e-12)
    assert (pictures[0] == 1).any() and (pictures[0] == 0).any()
    weights = torch.rand(pictures[0].shape, dtype=torch.float64)
    ours, theirs = (torch.autograd.grad(one, wanted, weights) for one in pictures)
    for mine, other in zip(ours, theirs, strict=True):
        assert torch.allclose(mine, other, rtol=0, atol=1e-12)


def drawn(*size: int, seed: int = 1) -> Tensor:
    """Random numbers in [0, 1) of double precision."""
    random = torch.Generator().manual_seed(seed)
    return torch.rand(size, generator=random, dtype=torch.float64)


def smooth() -> Texture:
    """Eight by ten texels."""
    return Texture.of(drawn(8, 10, 3))


@pytest.mark.parametrize("colours", [0, 3])
@pytest.mark.parametrize("textured", [False, True])
def test_lit_colours_have_the_gradient_of_differences(colours: int, textured: bool) -> None:
    """Five pixels of two pictures; one of them is turned away from the light."""
    texture = smooth() if textured else Texture.of(torch.zeros((0, 0, 3)).double())
    values = 2 + colours + 2 * textured
    planes = 0.5 + 0.1 * drawn(3 * values, 4)
    planes[1::values, 3] *= -1
    seen = SeenPixels(torch.tensor([0, 2, 2, 1, 3]), drawn(5), drawn(5, seed=2), [3, 2])
    lamp = [drawn(2, seed=3), drawn(2, seed=4), drawn(2, 3, seed=5)]
    given = [values.requires_grad_() for values in (planes, *lamp)]
    assert gradcheck(lambda p, *rest: lit_colours(p, Lamp(*rest), seen, texture), given)


def test_planes_and_corners_have_the_gradient_of_differences() -> None:
    """Two faces in two pictures, one of them seen from behind."""
    faces = torch.tensor([[0, 1], [1, 0], [2, 3]])
    surface = Surface(faces, drawn(5, 4))
    projection = torch.cat([torch.eye(3).double()[None].repeat(2, 1, 1), 2 + drawn(2, 3, 1)], 2)
    towards, vertices, normals = drawn(2, 3, seed=2), drawn(3, 4, seed=3), drawn(3, 4, seed=4)
    used = torch.tensor([0, 1, 3])

    def planes(projection: Tensor, towards: Tensor) -> Tensor:
        return planes_of(Corners(projection, towards, vertices, normals).rows, surface, used)

    assert gradcheck(planes, (projection.requires_grad_(), towards.requires_grad_()))


def test_a_plane_has_the_values_of_its_corners_at_their_places() -> None:
    rows, faces = drawn(4, 1, 3), torch.tensor([[0], [1], [2]])
    rows[2] += 1
    found = planes_of(rows, Surface(faces, drawn(2, 3, seed=2)), torch.tensor([0]))[:, 0].view(3, 4)
    x, y, z, cosine = rows[:, 0]
    for corner in range(3):
        at = torch.stack([x[corner] / z[corner], y[corner] / z[corner], torch.ones(()).double()])
        told = (found * at[:, None]).sum(0) * z[corner]
        expected = [1.0, abs(float(cosine[corner])), *drawn(2, 3, seed=2)[:, corner].tolist()]
        assert told.abs().tolist() == pytest.approx(expected)


def test_a_texture_repeats_beyond_its_borders_and_is_mixed_from_four_texels() -> None:
    texture = torch.rand(3, 5, 3)
    u, v = 4 * torch.rand(50) - 2, 4 * torch.rand(50) - 2
    found = Texture.of(texture).sample(u, v).colour
    for place in range(50):
        x, y = float(u[place]) * 5 - 0.5, (1 - float(v[place])) * 3 - 0.5
        left, top = int(x // 1), int(y // 1)
        right, low = x - left, y - top
        expected = sum(
            texture[(top + i) % 3, (left + j) % 5]
            * (low if i else 1 - low)
            * (right if j else 1 - right)
            for i in (0, 1)
            for j in (0, 1)
        )
        assert torch.allclose(found[:, place], expected, atol=1e-5)
