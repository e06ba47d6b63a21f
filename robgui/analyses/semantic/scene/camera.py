"""The camera and the light of a mesh scene, from angles."""

from __future__ import annotations

import math

import torch
from torch import Tensor

#: Vertical and horizontal angle of what the camera sees along the shorter side of the picture.
FIELD_OF_VIEW = 60.0


def camera(
    azimuth: Tensor, elevation: Tensor, distance: Tensor, roll: Tensor, size: tuple[int, int]
) -> tuple[Tensor, Tensor]:
    """Projections ``(m, 3, 4)`` to ``(f·X, f·Y, Z)``, and the cameras' places ``(m, 3)``.

    The camera looks at the origin; angles in degrees. X goes right and Y down the screen in pixels,
    Z away from the camera. Angles are turned into directions in double precision, so a picture does
    not depend on what it is computed with.
    """
    a, e, r = (angle.double().deg2rad() for angle in (azimuth, elevation, roll))
    d = distance.double()
    # Focal length in pixels: half the shorter side is seen under half the field of view.
    focal = min(size) / 2 / math.tan(math.radians(FIELD_OF_VIEW) / 2)
    none = torch.zeros_like(a)
    back = direction(azimuth, elevation)
    right = torch.stack([a.cos(), none, -a.sin()], 1)
    up = torch.stack([-e.sin() * a.sin(), e.cos(), -e.sin() * a.cos()], 1)
    # Roll turns right and up about the viewing direction.
    cosine, sine = r.cos()[:, None], r.sin()[:, None]
    turned_right, turned_up = cosine * right + sine * up, cosine * up - sine * right
    # Y points down the screen and Z away from the camera, hence the two signs.
    rows = torch.stack([focal * turned_right, -focal * turned_up, -back], 1)
    shift = torch.stack([none, none, d], 1)
    return torch.cat([rows, shift[:, :, None]], 2).float(), (d[:, None] * back).float()


def direction(azimuth: Tensor, elevation: Tensor) -> Tensor:
    """Unit vectors ``(m, 3)`` in double precision towards azimuth and elevation in degrees.

    Azimuth 0 is +z, 90 is +x.
    """
    a, e = azimuth.double().deg2rad(), elevation.double().deg2rad()
    return torch.stack([e.cos() * a.sin(), e.sin(), e.cos() * a.cos()], 1)
