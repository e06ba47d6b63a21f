"""The size of a result is known before it is made, without torch's compiler."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from robgui import resources
from robgui.core.loading.exported.contract import bind
from robgui.core.loading.exported.operations import bytes_in
from robgui.core.loading.exported.sizes import bound
from tests.security.formats.op_samples import samples

#: A bound that is many times the result would refuse networks that fit.
_SLACK = 4

_WITHOUT_COMPILER = """
import sys
import robgui
model = robgui.load(sys.argv[1])
model.probs(robgui.open_dataset(sys.argv[2]).array([0, 1]))
print(sorted({"sympy", "torch._dynamo"} & set(sys.modules)))
"""


def _function(name: str) -> torch._ops.OpOverload:
    operation, _, overload = name.partition(".")
    function: torch._ops.OpOverload = getattr(getattr(torch.ops.aten, operation), overload)
    return function


def test_no_result_is_larger_than_its_bound() -> None:
    known = 0
    for name, calls in samples().items():
        for args, kwargs in calls:
            most = bound(bind(_function(name), args, kwargs))
            if most is None:
                continue
            known += 1
            made = bytes_in(_function(name)(*args, **kwargs))
            assert made <= most, (name, made, most)
    assert known > 100


def test_a_bound_is_near_the_result() -> None:
    """Of what takes the memory of a network: layers, sums of them, and what comes after them."""
    aten, x = torch.ops.aten, torch.rand(4, 8, 32, 32)
    weight, matrix = torch.rand(16, 8, 3, 3), torch.rand(64, 32)
    calls = [
        (aten.conv2d.default, (x, weight, None, [2, 2], [1, 1])),
        (aten.conv2d.default, (x, weight, None, [1, 1], [1, 1], [2, 2])),
        (aten.max_pool2d.default, (x, [2], [2])),
        (aten.avg_pool2d.default, (x, [3, 3], [1, 1], [1, 1])),
        (aten.adaptive_avg_pool2d.default, (x, [4, 4])),
        (aten.linear.default, (x, matrix)),
        (aten.add.Tensor, (x, torch.rand(8, 1, 1))),
        (aten.relu.default, (x,)),
        (aten.cat.default, ([x, x], 1)),
    ]
    for function, args in calls:
        made, most = bytes_in(function(*args)), bound(bind(function, args, {}))
        assert most is not None
        assert made <= most <= _SLACK * made, (function, made, most)


@pytest.mark.parametrize("kind", [torch.uint8, torch.bool, torch.int32])
def test_sums_of_small_whole_numbers_are_wider_than_they(kind: torch.dtype) -> None:
    args = (torch.ones(3, 1, dtype=kind), [1])
    function = torch.ops.aten.sum.dim_IntList
    most = bound(bind(function, args, {}))
    assert most is not None
    assert most >= bytes_in(function(*args))


@pytest.mark.parametrize("network", ["fashion_mlp.pt2", "fashion_rnn.pt"])
def test_a_network_is_opened_without_torchs_compiler(network: str) -> None:
    words = [str(resources.path("demo", name)) for name in (network, "fashion.npz")]
    ran = subprocess.run(
        [sys.executable, "-c", _WITHOUT_COMPILER, *words],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.split("\n")[0] == "[]"
