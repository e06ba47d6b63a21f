"""Bounds of a convolution cost a worker no compiler."""

from __future__ import annotations

import subprocess
import sys

_PROGRAM = """
import sys
import torch
from torch import nn
from robgui.bounds.network import Affine
from robgui.bounds.relaxation import backsubstitute_affine
layer = nn.Conv2d(1, 2, 3, padding=1, bias=False).double()
move = Affine((0,), (2, 4, 4), layer, torch.zeros(1, 2, 4, 4, dtype=torch.float64))
rows = torch.randn(3, 2, 4, 4, dtype=torch.float64)
(found,) = backsubstitute_affine(move, rows, [(1, 4, 4)])
print("sympy" in sys.modules)
wanted = nn.functional.conv_transpose2d(rows, layer.weight, padding=1)
assert torch.allclose(found, wanted)
"""


def test_coefficients_are_pulled_back_without_the_compiler_of_torch() -> None:
    told = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stderr
    assert told.stdout.split() == ["False"]
