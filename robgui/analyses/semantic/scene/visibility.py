"""Which face each pixel sees: a z-buffer over exact spans, without gradient.

The line through two corners is their cross product, so the inside of a face is three inequalities
that are linear in the pixel's place, even if a corner lies behind the camera, and the near plane is
a fourth. Row by row they give one span of pixels; only pixels inside a face are ever generated,
whatever its size.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from robgui.analyses.semantic.scene.corners import Corners
from robgui.core.devices import places

#: Near plane: nothing closer to the camera is seen; the object is about 2 wide.
NEAR = 0.05
#: Samples (one pixel of one face) made at once; a denser picture is split.
MOST_SAMPLES = 4_000_000
#: A face whose corners span less than this with the camera is seen edge-on and covers nothing.
_LEAST_VOLUME = 1e-9
#: Farther than any pixel.
_BEYOND = 1e9


class _Faces(NamedTuple):
    """Faces that touch a row, ``a`` of them."""

    lines: Tensor  # (9, a) three lines a0 a1 a2 b0 b1 b2 c0 c1 c2 over x, y, 1; positive inside
    depth: Tensor  # (3, a) 1/depth over x, y, 1
    number: Tensor  # (a,) picture · faces + face
    first: Tensor  # (a,) first row
    rows: Tensor  # (a,) how many, at least 1
    clipped: bool  # whether any of them may reach through the near plane

    def part(self, of: slice) -> _Faces:
        return _Faces(
            self.lines[:, of],
            self.depth[:, of],
            self.number[of],
            self.first[of],
            self.rows[of],
            self.clipped,
        )


class _Spans(NamedTuple):
    """Pixels of a face on one row, ``n`` times."""

    first: Tensor  # (n,) place of the first pixel in the buffer
    pixels: Tensor  # (n,) how many, at least 1
    depth: Tensor  # (n,) 1/depth at the first pixel
    slope: Tensor  # (n,) its growth per pixel
    face: Tensor  # (n,) which face


def nearest(corners: Corners, faces: Tensor, size: tuple[int, int]) -> Tensor:
    """The nearest face at each pixel centre ``(m · h · w,)``.

    Bits of 1/depth above 32 bits of the face; 0 for none.

    Args:
        corners: Projected vertices.
        faces: ``(3, f)`` vertices of each face.
        size: Height and width.
    """
    height, width = size
    buffer = torch.zeros(len(corners.x) * height * width, dtype=torch.int64, device=faces.device)
    touching = _touching(corners, faces, height)
    # First by rows, each of which becomes one span of several numbers; then by pixels.
    for some in _parts(touching.rows, MOST_SAMPLES // 8):
        spans = _spans(touching.part(some), faces.shape[1], size)
        for part in _parts(spans.pixels, MOST_SAMPLES):
            _write(buffer, _Spans(*(values[part] for values in spans)))
    return buffer


def inverse_depth(seen: Tensor) -> Tensor:
    """1/depth of entries of the buffer; 0 where there is no face."""
    # The upper half of a key holds the bits of a positive float, which sort like the number.
    return (seen >> 32).to(torch.int32).view(torch.float32)


def expand(count: Tensor) -> tuple[Tensor, Tensor]:
    """Expands each i to ``count[i]`` >= 1 entries.

    The owner of each entry, and its number there.
    """
    # Writes a 1 where each owner's entries begin; their running sum numbers the owners.
    ends = count.cumsum(0)
    total = int(ends[-1]) if len(ends) else 0
    owner = torch.zeros(total, dtype=torch.int64, device=count.device)
    owner.scatter_(0, ends[:-1], 1)
    owner = owner.cumsum(0)
    return owner, torch.arange(total, device=count.device) - (ends - count).index_select(0, owner)


def _touching(corners: Corners, faces: Tensor, height: int) -> _Faces:
    behind = corners.z < NEAR
    clipped = bool(behind.any())
    # Pixel centres are at half-integers from the picture's centre, hence the half. Rows are clamped
    # to one beyond the picture, so far-away corners stay small numbers.
    row = (corners.y / corners.z.clamp_min(NEAR) + (height / 2 - 0.5)).clamp_(-1, height)
    if clipped:
        # A corner behind the near plane could project anywhere: its face may touch every row.
        lowest, highest = (row.masked_fill(behind, -1), row.masked_fill(behind, height))
    else:
        lowest, highest = (row, row)
    y = [lowest.index_select(1, face) for face in faces]
    # A row is covered if its centre is: from the ceiling of the lowest corner to below the ceiling
    # of the highest.
    first = torch.minimum(torch.minimum(y[0], y[1]), y[2]).ceil_().clamp_(min=0)
    if clipped:
        y = [highest.index_select(1, face) for face in faces]
    count = torch.maximum(torch.maximum(y[0], y[1]), y[2]).ceil_().sub_(first)
    number = places((count > 0).flatten())
    lines, depth, volume = _lines(corners, faces, number)
    full = places(volume > _LEAST_VOLUME)
    if len(full) < len(number):
        number, lines, depth = number[full], lines[:, full], depth[:, full]
    first, count = (values.flatten().index_select(0, number).long() for values in (first, count))
    return _Faces(lines, depth, number, first, count, clipped)


def _lines(corners: Corners, faces: Tensor, number: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Lines ``(9, a)`` and 1/depth ``(3, a)`` as in ``_Faces``, and spans with the camera ``(a,)``.

    Two faces that share an edge get exactly opposite lines: there is no gap and no overlap between
    them.
    """
    picture = number.div(faces.shape[1], rounding_mode="floor")
    face, start = number - picture * faces.shape[1], picture * corners.vertices
    at = [side.index_select(0, face) + start for side in faces]
    x, y, z = (
        [values.flatten().index_select(0, place) for place in at]
        for values in (corners.x, corners.y, corners.z)
    )
    # The edge opposite to corner k joins the two others, in cyclic order.
    around = ((1, 2), (2, 0), (0, 1))
    a = [y[i] * z[j] - z[i] * y[j] for i, j in around]
    b = [z[i] * x[j] - x[i] * z[j] for i, j in around]
    c = [x[i] * y[j] - y[i] * x[j] for i, j in around]
    # The triple product of the corners, six times the volume that the face spans with the camera;
    # its sign is the face's orientation.
    volume = x[0] * a[0] + y[0] * b[0] + z[0] * c[0]
    lines = torch.stack([*a, *b, *c]) * volume.sign()
    # On the face, a·x + b·y + c·1 over all three edges sums to volume/depth: divided by the volume,
    # 1/depth.
    return lines, lines.view(3, 3, -1).sum(1) / volume.abs(), volume.abs()


def _spans(some: _Faces, faces: int, size: tuple[int, int]) -> _Spans:
    height, width = size
    owner, row = expand(some.rows)
    row += some.first.index_select(0, owner)
    y = row.float() - (height / 2 - 0.5)
    lines = some.lines.index_select(1, owner)
    # With y fixed, each line is linear in x alone: a·x + rest >= 0 inside.
    rest = torch.addcmul(lines[6:], lines[3:6], y)
    low, high = _inside(lines[:3], rest, float(width))
    if some.clipped:
        # A line along the row (a = 0) has no crossing to exclude the row with. It matters only if
        # the near plane cuts faces: only then do their rows reach beyond their corners.
        low.masked_fill_(((lines[:3] == 0) & (rest < 0)).any(0), width)
        slope, constant = _depth(some, owner, y)
        low, high = _before_near_plane(low, high, slope, constant)
    centre = width / 2 - 0.5
    begin = (low + centre).clamp_(0, width).ceil_()
    pixels = (high + centre).clamp_(0, width).ceil_().sub_(begin)
    full = places(pixels > 0)
    owner, row, y, begin, pixels = (
        values.index_select(0, full) for values in (owner, row, y, begin, pixels)
    )
    slope, constant = _depth(some, owner, y)
    number = some.number.index_select(0, owner)
    picture = number.div(faces, rounding_mode="floor")
    return _Spans(
        (picture * height + row) * width + begin.long(),
        pixels.long(),
        # 1/depth at the first pixel; from there it grows by a constant per pixel.
        torch.addcmul(constant, slope, begin - centre),
        slope,
        number - picture * faces,
    )


def _depth(some: _Faces, owner: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """1/depth on a row: its growth per pixel, and its value at the centre."""
    slope, down, constant = some.depth.index_select(1, owner)
    return slope, torch.addcmul(constant, down, y)


def _inside(a: Tensor, rest: Tensor, far: float) -> tuple[Tensor, Tensor]:
    """The interval in which ``a·x + rest >= 0`` for all three lines, ``(n,)`` each.

    Ends beyond ±far are anywhere beyond. Signs are multiplied, not compared: choosing by a mask
    takes ten times as long on a processor.
    """
    sign = a.sign()
    crossing = (-rest / (a + (1 - sign * sign))).clamp_(-far, far)  # A line along the row has none.
    # Where a > 0 the line bounds from below and its upper bound is infinite; where a < 0 the
    # reverse; a = 0 bounds neither.
    lowest = sign.mul_(2 * _BEYOND).sub_(_BEYOND)
    low = torch.minimum(crossing, lowest)
    high = torch.maximum(crossing, lowest.add_(2 * _BEYOND))
    return low.amax(0), high.amin(0)


def _before_near_plane(
    low: Tensor, high: Tensor, slope: Tensor, constant: Tensor
) -> tuple[Tensor, Tensor]:
    """The part of the interval where 1/depth is below 1/NEAR."""
    crossing = (1 / NEAR - constant) / slope
    # Where 1/depth exceeds 1/NEAR the face is closer than the near plane: cut the side on which it
    # grows.
    low = torch.where(slope < 0, torch.maximum(low, crossing), low)
    high = torch.where(slope > 0, torch.minimum(high, crossing), high)
    return torch.where((slope == 0) & (constant > 1 / NEAR), high, low), high


def _write(buffer: Tensor, spans: _Spans) -> None:
    """Writes the pixels of the spans into the buffer where they are nearest."""
    owner, step = expand(spans.pixels)
    depth = torch.addcmul(
        spans.depth.index_select(0, owner), spans.slope.index_select(0, owner), step.float()
    )
    # Nearest wins by ``amax``: 1/depth is the upper half of the key, and between equals the larger
    # face number decides, the same on every device.
    key = (depth.view(torch.int32).long() << 32) + spans.face.index_select(0, owner)
    buffer.scatter_reduce_(0, spans.first.index_select(0, owner) + step, key, "amax")


def _parts(count: Tensor, most: int) -> Iterator[slice]:
    """Slices whose counts add up to about ``most``; a single one if all fit."""
    if not len(count):
        return
    total = count.cumsum(0)
    # Boundaries at multiples of ``most`` in the running total; an entry larger than that gets its
    # own part.
    levels = torch.arange(1, int(total[-1]) // most + 1, device=count.device) * most
    start = 0
    for end in (
        [*torch.searchsorted(total, levels).tolist(), len(count)] if len(levels) else [len(count)]
    ):
        if end > start:
            yield slice(start, end)
        start = max(start, end)
