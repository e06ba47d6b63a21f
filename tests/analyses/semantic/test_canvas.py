"""Gradients that are written out, against differences and single operations."""

from __future__ import annotations

import torch
from torch import Tensor

from robgui.analyses.semantic.scene.canvas import composed
from robgui.analyses.semantic.scene.outline import Mixing
from robgui.analyses.semantic.scene.shading import OnPlanes, sample, texture_table

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


def test_values_on_planes_have_the_gradient_of_differences() -> None:
    planes = torch.rand(6, 3, dtype=torch.float64, requires_grad=True)
    slot, x, y = torch.tensor([0, 2, 2, 1]), torch.rand(4).double(), torch.rand(4).double()
    assert torch.autograd.gradcheck(lambda given: OnPlanes.apply(given, slot, x, y), planes)


def test_a_texture_repeats_beyond_its_borders_and_is_mixed_from_four_texels() -> None:
    texture = torch.rand(3, 5, 3)
    u, v = 4 * torch.rand(50) - 2, 4 * torch.rand(50) - 2
    found = sample(texture_table(texture), (3, 5), u, v)
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
