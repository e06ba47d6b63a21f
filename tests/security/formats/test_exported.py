"""Exported programs: every permitted operation keeps to its tensors and to bounded memory,
whatever a file hands to it.
"""

from __future__ import annotations

import json
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from robgui.core.errors import ModelError, TrustError
from robgui.core.loading import load
from robgui.core.loading.exported.contract import BrokenContractError
from robgui.core.loading.exported.operations import (
    NAMES,
    SizeOperation,
    TensorOperation,
    find_operation,
)
from tests.security.attacks import child, forked, loaded_in_child, module, refused, repack
from tests.security.formats.op_samples import f, samples
from tests.security.formats.zoo import NETWORKS, Recurrent, network

GIB = 2**30


def export(net: nn.Module, path: Path, shape: tuple[int, ...], *, decompose: bool = False) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dynamic = ({0: torch.export.Dim("n", min=1, max=4096)},)
        program = torch.export.export(net, (torch.rand(2, *shape),), dynamic_shapes=dynamic)
        torch.export.save(program.run_decompositions() if decompose else program, path)
    return path


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An honest file of one linear layer, 6 -> 3."""
    torch.manual_seed(0)
    return export(
        nn.Sequential(nn.Linear(6, 3), nn.ReLU()).eval(),
        tmp_path_factory.mktemp("exported") / "plain.pt2",
        (6,),
    )


def with_graph(plain: Path, target: Path, change: Any) -> Path:
    """The file with its graph changed."""

    def changed(name: str, content: bytes) -> tuple[str, bytes]:
        if name.endswith("models/model.json"):
            document = json.loads(content)
            change(document["graph_module"]["graph"])
            content = json.dumps(document).encode()
        return name, content

    return repack(plain, target, changed)


#: torch takes five seconds and more for each; a plain LSTM and an RNN stand for them.
#: Their parts call every operation that the parts of the other networks call.
_DECOMPOSED = {
    "densenet",
    "hand attention",
    "inception",
    "lstm",
    "mobilenet",
    "unet",
    "vit",
    "waves",
}


def last_call(plain: Path, target: Path, operation: str, **arguments: Any) -> Path:
    """The file with another operation at its end."""

    def change(graph: dict[str, Any]) -> None:
        node = graph["nodes"][-1]
        node["target"] = f"torch.ops.aten.{operation}"
        node["inputs"] = [
            {"name": name, "arg": argument, "kind": 1} for name, argument in arguments.items()
        ]

    return with_graph(plain, target, change)


def test_every_permitted_operation_has_a_valid_call_that_is_carried_out():
    calls = samples()
    assert set(calls) == NAMES
    for name, each in calls.items():
        for args, kwargs in each:
            TensorOperation(name)(args, kwargs, GIB)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_no_hostile_call_of_a_permitted_operation_ends_the_process(seed):
    *_, last = forked(module("tests.security.formats.op_fuzzer"), seed, 12).splitlines()
    assert int(last.removeprefix("carried out ")) > len(NAMES)  # the attacks reach the kernels


@pytest.mark.parametrize("name", sorted(NAMES))
def test_no_permitted_operation_is_a_backward_step_or_writes_into_an_argument_for_results(name):
    schema = TensorOperation(name).function._schema
    assert "backward" not in name and not any(
        argument.name.startswith("out") and argument.is_out for argument in schema.arguments
    )


@pytest.mark.parametrize(
    "target",
    [
        "max_pool2d_with_indices_backward.default",
        "_weight_norm.default",
        "col2im.default",
        "_fft_r2c.default",
        "remainder.int",
        "as_strided.default",
        "resize_.default",
        "set_.source_Storage",
        "empty_strided.default",
        "_embedding_bag.default",
        "from_file.default",
        "add.out",
        "save.default",
    ],
)
def test_operations_that_cannot_be_checked_are_not_permitted(plain, tmp_path, target):
    assert find_operation(f"torch.ops.aten.{target}") is None
    assert target in refused(last_call(plain, tmp_path / "m.pt2", target), TrustError)


BROKEN: dict[str, tuple[str, tuple[Any, ...]]] = {
    "short averages": (
        "_native_batch_norm_legit_no_training.default",
        (f(2, 64, 3, 3), f(64), f(64), f(2), f(2), 0.1, 1e-5),
    ),
    "attention of different lengths": (
        "scaled_dot_product_attention.default",
        (f(2, 2, 4, 8), f(2, 2, 3, 8), f(2, 2, 4, 8)),
    ),
    "fewer heads in the query": (
        "_scaled_dot_product_flash_attention_for_cpu.default",
        (f(2, 1, 4, 8), f(2, 2, 4, 8), f(2, 2, 4, 8)),
    ),
    "a scale of nothing": (
        "upsample_bicubic2d.default",
        (f(2, 3, 8, 8), [7, 7], False, 1e-300, 1.75),
    ),
    "no tensor": ("copy.default", (None, f(2))),
    "an endless window": ("max_pool1d.default", (f(2, 3, 8), [2**62])),
    "an index outside": ("gather.default", (f(4, 5), 1, torch.full((2, 3), 2**40))),
    "a row that is none": ("embedding.default", (f(7, 4), torch.tensor([7]))),
    "a negative row": ("index_select.default", (f(7, 4), 0, torch.tensor([-1]))),
    "division by zero": ("floor_divide.default", (torch.tensor([1]), torch.tensor([0]))),
    "the one overflow of a division": (
        "div.Tensor_mode",
        (torch.tensor([-(2**63)]), torch.tensor([-1])),
    ),
    "a remainder by minus one": ("remainder.Scalar", (torch.tensor([-(2**63)]), -1)),
    "a range without end": ("arange.start_step", (0, 10, 0)),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_call_that_breaks_its_contract_is_not_made(case):
    name, args = BROKEN[case]
    kwargs = {"rounding_mode": "floor"} if name == "div.Tensor_mode" else {}
    with pytest.raises(BrokenContractError, match=f"its operation {name.split('.')[0]} is refused"):
        TensorOperation(name)(args, kwargs, GIB)


def test_sizes_are_plain_numbers_that_cannot_grow_without_end():
    with pytest.raises(BrokenContractError, match="no size"):
        SizeOperation("_operator.mul")((2**40, 2**40), {}, GIB)
    for wrong in (("a", 10**9), ([1], 10**9), (torch.rand(2), 2)):
        with pytest.raises(BrokenContractError, match="plain numbers"):
            SizeOperation("_operator.mul")(wrong, {}, GIB)


def test_indices_that_would_overwrite_memory_are_refused(plain, tmp_path):
    """The review's attack: a backward step of max pooling with indices of the attacker's choice
    ran a command.
    """
    tensor = {"as_tensor": {"name": "x"}}
    path = last_call(
        plain,
        tmp_path / "m.pt2",
        "max_pool2d_with_indices_backward.default",
        grad_output=tensor,
        self=tensor,
        kernel_size={"as_ints": [1, 1]},
        indices=tensor,
    )
    assert "max_pool2d_with_indices_backward" in refused(path, TrustError)


def test_a_recurrent_layer_with_a_changed_setting_ends_in_a_sentence_and_not_in_a_crash(tmp_path):
    honest = export(Recurrent(nn.LSTM, 2, 2).eval(), tmp_path / "lstm.pt2", (7, 4))
    paths = []
    for name, value in (
        ("batch_first", False),
        ("num_layers", 40),
        ("bidirectional", False),
        ("has_biases", False),
    ):
        changed = []

        def change(
            graph: dict[str, Any],
            name: str = name,
            value: Any = value,
            changed: list[str] = changed,
        ) -> None:
            for given in (
                given
                for node in graph["nodes"]
                if "lstm" in node["target"]
                for given in node["inputs"]
            ):
                if given["name"] == name:
                    given["arg"] = {"as_int" if name == "num_layers" else "as_bool": value}
                    changed.append(name)

        paths.append(with_graph(honest, tmp_path / f"{name}.pt2", change))
        assert changed
    answers = loaded_in_child(*paths)
    assert len(answers) == 4 and all(
        "its operation lstm is refused" in answer for answer in answers
    )


def _size(n: int) -> dict[str, Any]:
    return {"as_ints": [n]}


GREEDY: dict[str, dict[str, Any]] = {
    "arange.default": {"end": {"as_int": 700_000_000}},
    "full.default": {"size": _size(700_000_000), "fill_value": {"as_float": 1.0}},
    "eye.default": {"n": {"as_int": 30_000}},
    "linspace.default": {
        "start": {"as_float": 0.0},
        "end": {"as_float": 1.0},
        "steps": {"as_int": 700_000_000},
    },
    "repeat.default": {
        "self": {"as_tensor": {"name": "input"}},
        "repeats": {"as_ints": [10**8, 1]},
    },
    "constant_pad_nd.default": {
        "self": {"as_tensor": {"name": "input"}},
        "pad": {"as_ints": [10**9, 0]},
    },
}


def test_a_small_file_that_asks_for_much_memory_is_refused_before_it_is_taken(plain, tmp_path):
    """Within 1.5 GB beyond what torch itself takes: the review's file of 11 KB took 5.4 GB."""
    paths = [
        last_call(plain, tmp_path / f"{operation}.pt2", operation, **arguments)
        for operation, arguments in GREEDY.items()
    ]
    answers = loaded_in_child(*paths, extra=3 * GIB // 2)
    for operation, answer in zip(GREEDY, answers, strict=True):
        assert f"its operation {operation.split('.')[0]} is refused" in answer


def test_results_that_are_kept_count_together(plain, tmp_path):
    """A thousand tensors of 100 MB, each small enough by itself."""

    def change(graph: dict[str, Any]) -> None:
        last = graph["nodes"][-1]
        tensors = []
        for number in range(1000):
            name = f"big{number}"
            inputs = [
                {"name": "size", "arg": _size(25_000_000), "kind": 1},
                {"name": "fill_value", "arg": {"as_float": 1.0}, "kind": 1},
            ]
            node = {
                **last,
                "target": "torch.ops.aten.full.default",
                "inputs": inputs,
                "outputs": [{"as_tensor": {"name": name}}],
            }
            graph["nodes"].insert(-1, node)
            tensors.append({"name": name})
        last["target"], last["inputs"] = (
            "torch.ops.aten.cat.default",
            [{"name": "tensors", "arg": {"as_tensors": tensors}, "kind": 1}],
        )

    path = with_graph(plain, tmp_path / "m.pt2", change)
    (answer,) = loaded_in_child(path, extra=3 * GIB // 2)
    assert "its operation full is refused" in answer


def test_a_batch_of_any_size_is_not_taken_from_the_file(plain, tmp_path):
    def change(graph: dict[str, Any]) -> None:
        graph["tensor_values"]["input"]["sizes"][0] = {"as_int": 10**9}

    assert "batches of exactly" in refused(
        with_graph(plain, tmp_path / "m.pt2", change), ModelError
    )


def test_a_shape_that_would_take_gigabytes_is_refused(plain):
    assert "most that one input may have" in refused(plain, ModelError, shape=(300_000_000,))


def test_a_graph_of_many_megabytes_is_refused_before_it_becomes_objects(plain, tmp_path):
    def change(name: str, content: bytes) -> tuple[str, bytes]:
        return name, (
            b"[" + b"[]," * 20_000_000 + b"[]]" if name.endswith("model.json") else content
        )

    (answer,) = loaded_in_child(repack(plain, tmp_path / "m.pt2", change), extra=GIB)
    assert "longer than" in answer


@pytest.mark.parametrize(
    ("name", "decompose"),
    [
        *((name, False) for name in NETWORKS),
        *(
            pytest.param(name, True, marks=[pytest.mark.slow] * (name not in _DECOMPOSED))
            for name in NETWORKS
        ),
    ],
)
def test_an_honest_network_loads_without_trust_and_answers_as_before(tmp_path, name, decompose):
    shape = NETWORKS[name][1]
    net = network(name)
    path = export(net, tmp_path / "m.pt2", shape, decompose=decompose)
    x = torch.rand(3, *shape, generator=torch.Generator().manual_seed(1))
    classifier = load(path, device="cpu")
    with torch.inference_mode():
        torch.testing.assert_close(classifier.raw(x), net(x), atol=1e-5, rtol=1e-4)
    mine = x.clone().requires_grad_()
    classifier.logits(mine)[:, 1].sum().backward()
    assert mine.grad is not None and bool(mine.grad.isfinite().all())


@pytest.mark.slow
def test_the_usual_networks_hold_every_operation_that_decomposing_leads_to(tmp_path):
    def called(name: str, *, decompose: bool) -> set[str]:
        path = export(network(name), tmp_path / "m.pt2", NETWORKS[name][1], decompose=decompose)
        with zipfile.ZipFile(path) as archive:
            place = next(one for one in archive.namelist() if one.endswith("models/model.json"))
            document = json.loads(archive.read(place))
        return {node["target"] for node in document["graph_module"]["graph"]["nodes"]}

    usual = set().union(*(called(name, decompose=True) for name in _DECOMPOSED))
    usual |= set().union(*(called(name, decompose=False) for name in NETWORKS))
    assert usual >= set().union(*(called(name, decompose=True) for name in NETWORKS))


@pytest.mark.parametrize("apart", [child, forked])
def test_the_child_of_these_tests_notices_a_crash(apart):
    with pytest.raises(AssertionError, match="SIGSEGV"):
        apart("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")


def test_the_input_of_the_fixture_is_called_as_these_tests_expect(plain):
    with zipfile.ZipFile(plain) as archive:
        document = json.loads(
            archive.read(
                next(name for name in archive.namelist() if name.endswith("models/model.json"))
            )
        )
    assert "input" in document["graph_module"]["graph"]["tensor_values"]
