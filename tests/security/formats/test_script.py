"""TorchScript: nothing of a file runs unless it only computes, and what computes cannot leave
its tensors.
"""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn

from robgui import resources
from robgui.core.errors import ModelError, TrustError
from robgui.core.loading import load
from robgui.core.loading.script.code import ForeignCodeError, check_code
from robgui.core.loading.script.graphs import (
    guard_kernels,
    unknown_operations,
    unsafe_operations,
)
from robgui.core.loading.script.operations import TENSORS, UNSAFE
from robgui.core.loading.script.reader import PARTS
from tests.security.attacks import forked, loaded_in_child, module, refused, repack
from tests.security.formats.test_weights import compressed, quantised, sparse
from tests.security.formats.zoo import NETWORKS, Recurrent, network

RETURN = b"return torch.linear(input, weight, bias)"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An honest file of one linear layer, 6 -> 3."""
    path = tmp_path_factory.mktemp("script") / "plain.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.script(nn.Sequential(nn.Linear(6, 3)).eval()).save(str(path))
    return path


def with_line(plain: Path, target: Path, line: str) -> Path:
    """The file with one more line before the last of its layer."""
    changed = []

    def change(name: str, content: bytes) -> tuple[str, bytes]:
        changed.append(RETURN in content)
        return name, content.replace(RETURN, line.encode() + b"\n    " + RETURN)

    repack(plain, target, change)
    assert any(changed)
    return target


def test_the_honest_file_loads_without_trust(plain):
    assert load(plain, device="cpu").classes == 3


@pytest.mark.parametrize(
    "line",
    [
        'input = torch.add(input, torch.mean(getattr(torch, "from\\137file")("MARK", True, 10)))',
        'getattr(torch, "\\163ave")(input, "MARK")',
        'getattr(torch, "save")(input, "MARK")',
        'input = torch.add(input, torch.mean(torch.from_file("MARK", True, 10)))',
        'torch.save(input, "MARK")',
        'ops.aten.save(input, "MARK")',
        'input = torch.add(input, torch.mean("MARK".from_file(True, 10)))',
        'input = torch.add(input, torch.mean(("MARK").from_file(True, 10)))',
        'input = torch.add(input, torch.mean(torch \\\n  .from_file("MARK", True, 10)))',
        'input = torch.add(input, torch.mean(torch\n  .from_file("MARK", True, 10)))',
        "input = torch.add(input, torch.mean(torch.from_file('MARK', True, 10)))",
    ],
)
def test_code_that_writes_a_file_is_refused_and_does_not_run(plain, tmp_path, line):
    mark = tmp_path / "mark"
    path = with_line(plain, tmp_path / "m.pt", line.replace("MARK", str(mark)))
    refused(path, TrustError)
    assert not mark.exists()


@pytest.mark.parametrize(
    "line",
    [
        "ops.prim.PythonOp(input)",
        "ops.profiler._record_function_enter(input)",
        "ops.quantized.linear(input, input, 1., 0)",
        "ops.inductor.accumulate_grad_(input, input)",
        "print(input)",
        "_9 = fork(input)",
        "_9 = __torch__.torch.classes.quantized.LinearPackedParamsBase",
        (
            "_9 = torch.max_pool2d_with_indices_backward(input, input, [1], [1], [0], [1], False,"
            " input)"
        ),
        "_9 = torch.as_strided(input, [1000], [1])",
        "_9 = torch.set_(input)",
        "_9 = input.resize_([1000000])",
        "_9 = t if True else torch",
        "# type: ignore",
        "_9 = lambda: 1",
    ],
)
def test_code_beyond_computing_needs_trust(plain, tmp_path, line):
    refused(with_line(plain, tmp_path / "m.pt", line), TrustError)


class Stateful(nn.Module):
    def forward(self, x):
        return x

    @torch.jit.export
    def __getstate__(self) -> tuple[int, bool]:
        return (3, self.training)

    @torch.jit.export
    def __setstate__(self, state: tuple[int, bool]) -> None:
        torch.log(torch.zeros([1]))
        self.training = state[1]


@pytest.fixture
def stateful(tmp_path: Path) -> Path:
    """A file whose module has a method that torch calls while it loads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.script(Stateful()).save(str(tmp_path / "stateful.pt"))
    return tmp_path / "stateful.pt"


def test_a_method_that_torch_would_call_while_loading_is_refused_before_it_runs(stateful, tmp_path):
    mark = tmp_path / "mark"
    hidden = f'getattr(torch, "from\\137file")("{mark}", True, 10)'.encode()
    path = repack(
        stateful,
        tmp_path / "m.pt",
        lambda name, content: (name, content.replace(b"torch.log(torch.zeros([1]))", hidden)),
    )
    assert hidden in b"".join(_parts(path).values())
    assert "state__, which would run" in refused(path, TrustError, shape=(6,))
    assert not mark.exists()


def test_a_part_whose_name_differs_in_case_only_does_not_take_the_place_of_the_checked_code(
    stateful, tmp_path
):
    mark = tmp_path / "mark"
    hidden = f'getattr(torch, "from\\137file")("{mark}", True, 10)'.encode()

    def change(name: str, content: bytes) -> tuple[str, bytes]:
        return (name[:-3] + ".PY" if name.endswith(".py") else name), content.replace(
            b"torch.log(torch.zeros([1]))", hidden
        )

    refused(repack(stateful, tmp_path / "m.pt", change), ModelError, shape=(6,))
    assert not mark.exists()


@pytest.mark.parametrize(
    "name",
    [
        "model.json",
        "code/a.PY",
        "DATA.PKL",
        "extra/x",
        "code/../data.pkl",
        "code/a.py\n",
        "tensors.json",
        "",
    ],
)
def test_torch_is_given_only_the_parts_that_were_checked(name):
    assert not PARTS.fullmatch(name)


def _parts(path: Path) -> dict[str, bytes]:
    import zipfile

    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_an_object_of_torchs_own_classes_needs_trust(plain, tmp_path):
    evil = b"\x80\x02c__torch__.torch.classes.quantized\nLinearPackedParamsBase\n)\x81."

    def change(name: str, content: bytes) -> tuple[str, bytes]:
        return name, (evil if name.endswith("/data.pkl") else content)

    assert "torch.classes" in refused(repack(plain, tmp_path / "m.pt", change), TrustError)


@pytest.mark.parametrize(
    ("line", "operation"),
    [
        ('torch.save(input, "MARK")', "aten::save"),
        (
            'input = torch.add(input, torch.mean(torch.from_file("MARK", True, 10)))',
            "aten::from_file",
        ),
        ("print(input)", "prim::Print"),
    ],
)
def test_the_graphs_are_checked_even_where_the_text_passed(plain, tmp_path, line, operation):
    """The second line of defence by itself: what torch compiled, whatever the text looked like."""
    path = with_line(plain, tmp_path / "m.pt", line.replace("MARK", str(tmp_path / "mark")))
    unit = torch._C.CompilationUnit()
    torch._C.import_ir_module_from_buffer(unit, path.read_bytes(), torch.device("cpu"), {}, False)
    assert unknown_operations(unit) == [operation]
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize(
    "text",
    [
        'x = "\\x61"',
        'x = "\\141"',
        'x = "a\nb"',
        "x = 'a'",
        "x = 1 + 1",
        "x = not True",
        "\tx = `1`",
        "x = (" * 200,
        "x = a" + ".b" * 1000,
        "x = a" + "[0]" * 1000,
        ")",
    ],
)
def test_text_that_torch_does_not_write_is_refused(text):
    with pytest.raises(ForeignCodeError, match="its code"):
        check_code({"code/a.py": text})


@pytest.mark.parametrize(
    "text",
    [
        'x = "\\n\\t\\"\\\\"',
        'x = "\\303\\244\\000"',
        "x = -1",
        "x = -inf",
        'x = getattr(self, "0")',
    ],
)
def test_text_as_torch_writes_it_passes(text):
    check_code({"code/a.py": text})


def nested(n: int) -> dict[str, bytes]:
    return {
        "brackets": b"return " + b"(" * n + b"input" + b")" * n,
        "attributes": b"return input" + b".T" * n,
        "indices": b"return input" + b"[0]" * n,
        "sum": b"return input" + b"+input" * n,
    }


def test_code_nested_without_end_is_refused_and_ends_no_process(plain, tmp_path):
    paths = []
    for how, text in nested(100_000).items():
        paths.append(
            repack(
                plain,
                tmp_path / f"{how}.pt",
                lambda name, content, text=text: (name, content.replace(RETURN, text)),
            )
        )
    answers = loaded_in_child(*paths)
    assert len(answers) == 4 and all(answer.startswith("refused") for answer in answers)


def _chain(n: int) -> bytes:
    """Lists in lists, each put into the one before it through the memo, so that no step looks
    deep.
    """
    made = b"".join(b"]r" + k.to_bytes(4, "little") for k in range(n))
    joined = b"".join(
        b"j" + k.to_bytes(4, "little") + b"j" + (k + 1).to_bytes(4, "little") + b"a0"
        for k in range(n - 1)
    )
    return b"\x80\x02(" + made + b"l" + joined + b"."


def test_a_pickle_nested_without_end_is_refused_and_ends_no_process(plain, tmp_path):
    tuples, lists = (
        b"\x80\x02)" + b"\x85" * 1_000_000 + b".",
        b"\x80\x02" + b"]" * 1_000_000 + b"a" * 999_999 + b"\x85.",
    )
    paths = []
    for number, content in enumerate((tuples, lists, _chain(200_000))):

        def change(name: str, old: bytes, content: bytes = content) -> tuple[str, bytes]:
            return name, (content if name.endswith("/constants.pkl") else old)

        paths.append(repack(plain, tmp_path / f"{number}.pt", change))
    answers = loaded_in_child(*paths)
    assert len(answers) == 3 and all("damaged" in answer for answer in answers)


def test_the_pickles_of_real_models_are_sound():
    from robgui.core.loading.pickles import is_sound

    for content in (
        pickle.dumps([[k] for k in range(5000)]),
        pickle.dumps({"a": [1, "x", "x"], "b": ("x", {"c": [2]})}, 2),
    ):
        assert is_sound(content)


def test_hostile_sizes_of_a_recurrent_layer_end_in_a_sentence_and_not_in_a_crash(tmp_path):
    """The layer of the review: with the batch in the wrong place torch writes beside the states."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.script(Recurrent(nn.LSTM, 2, 2).eval()).save(str(tmp_path / "lstm.pt"))

    def change(name: str, content: bytes) -> tuple[str, bytes]:
        return name, content.replace(
            b"True, 2, 0., training, True, True)", b"True, 2, 0., training, True, False)"
        )

    path = repack(tmp_path / "lstm.pt", tmp_path / "m.pt", change)
    answers = loaded_in_child(path, path, path, settings={"shape": (7, 4)})
    assert all("its operation lstm is refused" in answer for answer in answers)


def test_hostile_sizes_of_attention_end_in_a_sentence_and_not_in_a_crash(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.script(network("vit")).save(str(tmp_path / "vit.pt"))
    old = b"torch.scaled_dot_product_attention(q, k, v)"
    longer = b"torch.scaled_dot_product_attention(q, k, torch.slice(v, 2, 0, 1))"
    seen = []

    def change(name: str, content: bytes) -> tuple[str, bytes]:
        seen.append(old in content)
        return name, content.replace(old, longer)

    path = repack(tmp_path / "vit.pt", tmp_path / "m.pt", change)
    (answer,) = loaded_in_child(path, settings={"shape": (3, 32, 32)})
    assert any(seen) and "its operation scaled_dot_product_attention is refused" in answer


class Small(nn.Module):
    def forward(self, x):
        return x


class Large(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(6, 6) for _ in range(30)])
        self.last = nn.Linear(6, 3)

    def forward(self, x):
        return self.last(x)


class Both(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.small, self.large, self.pair = Small(), Large(), (1, 2)

    def forward(self, x):
        first, second = self.pair
        return self.large(self.small(x)) * first + second


def test_a_value_that_is_not_of_its_declared_type_is_refused_before_it_is_used(tmp_path):
    """Torch would read the layers of the large module beside the small one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.script(Both().eval()).save(str(tmp_path / "both.pt"))
    lies = [
        (b"\nLarge\n", b"\nSmall\n"),
        (b"K\x01K\x02\x86", b"K\x01\x85"),
        (b"K\x01K\x02\x86", b"K\x07"),
    ]
    paths = []
    for number, (old, new) in enumerate(lies):

        def change(
            name: str, content: bytes, old: bytes = old, new: bytes = new
        ) -> tuple[str, bytes]:
            assert not name.endswith("/data.pkl") or old in content
            return name, (content.replace(old, new) if name.endswith("/data.pkl") else content)

        paths.append(repack(tmp_path / "both.pt", tmp_path / f"{number}.pt", change))
    honest, *answers = loaded_in_child(tmp_path / "both.pt", *paths, settings={"shape": (6,)})
    assert honest == "loaded"
    for answer, value in zip(answers, ("large", "pair", "pair"), strict=True):
        assert f"value {value} is not of the type" in answer


def save(name: str, how: str, path: Path) -> nn.Module:
    net = network(name)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        if how == "traced":
            torch.jit.trace(net, torch.rand(2, *NETWORKS[name][1]), check_trace=False).save(
                str(path)
            )
        else:
            scripted = torch.jit.script(net)
            (torch.jit.freeze(scripted) if how == "frozen" else scripted).save(str(path))
    return net


@pytest.mark.parametrize("how", ["scripted", "traced", "frozen"])
@pytest.mark.parametrize("name", NETWORKS)
def test_an_honest_network_loads_without_trust_and_answers_as_before(tmp_path, name, how):
    net = save(name, how, tmp_path / "m.pt")
    x = torch.rand(3, *NETWORKS[name][1], generator=torch.Generator().manual_seed(1))
    classifier = load(tmp_path / "m.pt", device="cpu", shape=NETWORKS[name][1])
    with torch.inference_mode():
        torch.testing.assert_close(classifier.raw(x), net(x), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(
    "name", ["lstm", "deep lstm", "gru", "vit", "encoder", "self-attention", "unet"]
)
def test_a_guarded_network_has_the_gradients_of_the_original(tmp_path, name):
    net = save(name, "scripted", tmp_path / "m.pt")
    classifier = load(tmp_path / "m.pt", device="cpu", shape=NETWORKS[name][1])
    x = torch.rand(3, *NETWORKS[name][1], generator=torch.Generator().manual_seed(2))
    mine, theirs = x.clone().requires_grad_(), x.clone().requires_grad_()
    classifier.logits(mine)[:, 1].sum().backward()
    net(theirs)[:, 1].sum().backward()
    torch.testing.assert_close(mine.grad, theirs.grad, atol=1e-5, rtol=1e-4)


def test_the_recurrent_demo_loads_without_trust():
    assert load(resources.path() / "demo" / "fashion_rnn.pt", device="cpu").classes == 10


@pytest.mark.parametrize("left", [0, 4, 60])
def test_a_weight_that_is_shorter_than_the_tensor_is_refused(plain, tmp_path, left):
    """Torch would read what follows the part in memory, or nothing's address."""
    path = tmp_path / "m.pt"
    repack(plain, path, lambda name, part: (name, part[:left] if "/data/0" in name else part))
    assert "bytes, but a tensor claims" in refused(path, ModelError)


def test_a_part_that_only_differs_in_case_takes_no_place(plain, tmp_path):
    path = tmp_path / "m.pt"
    repack(plain, path, lambda name, part: (name, part), {"data/a": b"1", "data/A": b"2"})
    assert "differ only in case" in refused(path, ModelError)


@pytest.mark.parametrize("kind", [sparse, compressed, quantised])
def test_a_tensor_that_is_not_plain_is_refused(tmp_path, kind):
    class Odd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("odd", kind(torch.Size([6, 3])))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x[:, :3]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = tmp_path / "m.pt"
        torch.jit.trace(Odd(), torch.rand(2, 6), check_trace=False).save(str(path))
    assert "unusual" in refused(path, ModelError)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_no_hostile_call_of_a_permitted_operation_ends_the_process(seed):
    *every, last = forked(module("tests.security.formats.script_fuzzer"), seed, 40).splitlines()
    attacked, done = map(int, last.removeprefix("attacked and carried out ").split())
    assert attacked == len(every) and done > 5 * attacked  # the attacks reach the kernels
    unsafe = {name.removeprefix("aten::") for name in UNSAFE}
    wanted = {
        name.replace(".default", ".")
        for name in TENSORS - unsafe
        if not name.startswith(("tensor.", "as_tensor.list", "to.prim_"))
    }
    assert wanted <= set(every), wanted - set(every)


@pytest.mark.parametrize(
    "line",
    [
        "torch.remainder(torch.size(input, 0), torch.sub(torch.size(input, 1), 6))",
        "torch.remainder(-9223372036854775808, torch.sub(torch.size(input, 1), 7))",
        "torch.floordiv(-9223372036854775808, torch.sub(torch.size(input, 1), 7))",
        "torch.__round_to_zero_floordiv(1, torch.sub(torch.size(input, 1), 6))",
        "torch.remainder(torch.to(input, 4), torch.to(torch.sub(input, input), 4))",
    ],
)
def test_a_quotient_that_is_none_ends_in_a_sentence_and_not_in_a_crash(plain, tmp_path, line):
    """The processor would stop the program."""
    path = with_line(plain, tmp_path / "m.pt", f"input = torch.add(input, {line})")
    (answer,) = loaded_in_child(path, settings={"shape": (6,)})
    assert answer.startswith("refused:") and "is refused: it" in answer, answer


def test_every_careless_kernel_in_the_graphs_of_a_file_is_guarded(tmp_path):
    """Also those in methods that are called from others and inside branches."""
    save("encoder", "scripted", tmp_path / "m.pt")
    unit = torch._C.CompilationUnit()
    inner = torch._C.import_ir_module_from_buffer(
        unit, (tmp_path / "m.pt").read_bytes(), torch.device("cpu"), {}, False
    )
    guard_kernels(unit)
    text = str(inner._get_method("forward").inlined_graph)
    assert "robgui::_transformer_encoder_layer_fwd" in text
    assert "aten::_transformer_encoder_layer_fwd" not in text
    assert "aten::_native_multi_head_attention" not in text


def test_a_careless_kernel_that_nobody_has_guarded_is_refused(tmp_path):
    save("encoder", "scripted", tmp_path / "m.pt")
    unit = torch._C.CompilationUnit()
    inner = torch._C.import_ir_module_from_buffer(
        unit, (tmp_path / "m.pt").read_bytes(), torch.device("cpu"), {}, False
    )
    assert "aten::_transformer_encoder_layer_fwd" in unsafe_operations(unit, inner)


@pytest.mark.parametrize(
    "expression",
    [
        "torch.to(input, 128)",
        "torch.to(input, -1)",
        "torch.to(input, torch.sub(torch.size(input, 1), 7))",
        "torch.zeros([1], dtype=-2, layout=None, device=None, pin_memory=False)",
        "torch.zeros([1], dtype=None, layout=99, device=None, pin_memory=False)",
        "torch.mean(input, dtype=255)",
        "torch.clone(input, memory_format=4)",
    ],
)
def test_a_number_that_is_no_type_is_refused(plain, tmp_path, expression):
    path = with_line(plain, tmp_path / "m.pt", f"input = torch.add(input, {expression})")
    (answer,) = loaded_in_child(path, settings={"shape": (6,)})
    assert answer.startswith("refused:") and "no type of values" in answer, answer


def test_numbers_are_not_divided_while_a_file_is_loaded(plain, tmp_path):
    path = with_line(plain, tmp_path / "m.pt", "input = torch.add(input, torch.remainder(1, 0))")
    (answer,) = loaded_in_child(path, settings={"shape": (6,)})
    assert answer.startswith("refused:"), answer
