"""No file executes code, grows without bounds or breaks the program.

Each refusal is one sentence that names the file.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import struct
import sys
import tracemalloc
import warnings
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from robgui.core.errors import MissingExtraError, ModelError, TrustError
from robgui.core.loading import is_ours, load
from tests.core.loading.makers import save_exported, save_script, table_net


def rewrite(
    source: Path, target: Path, changes: dict[str, bytes], *, drop: tuple[str, ...] = ()
) -> Path:
    """A copy of a zip file with members replaced (by the end of their names), dropped or added.

    Checksums are right.
    """
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        root = old.namelist()[0].split("/")[0]
        left = dict(changes)
        for name in old.namelist():
            ending = next((key for key in changes if name.endswith(key)), None)
            if not any(name.endswith(each) for each in drop):
                new.writestr(name, left.pop(ending, changes[ending]) if ending else old.read(name))
        for name, content in left.items():
            new.writestr(f"{root}/{name}", content)
    return target


def refused(path: Path, error: type[ModelError] = ModelError, **settings: object) -> str:
    with pytest.raises(error) as caught:
        load(path, device="cpu", **settings)
    message = str(caught.value)
    assert path.name in message and "\n" not in message
    return message


def test_a_malicious_torch_file_is_not_executed(tmp_path, evil):
    trap, executed = evil
    torch.save({"state_dict": trap}, tmp_path / "m.pth")
    message = refused(tmp_path / "m.pth", TrustError)
    assert "io.open" in message and "trust" in message and not executed()


def test_a_malicious_torch_file_in_the_old_format_is_not_executed(tmp_path, evil):
    trap, executed = evil
    torch.save(trap, tmp_path / "m.pth", _use_new_zipfile_serialization=False)
    assert "io.open" in refused(tmp_path / "m.pth", TrustError) and not executed()


@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize("name", ["m.pkl", "m.joblib", "m.pickle"])
def test_a_malicious_pickle_is_not_executed(tmp_path, evil, name, protocol):
    trap, executed = evil
    (tmp_path / name).write_bytes(pickle.dumps(trap, protocol))
    assert "io.open" in refused(tmp_path / name, TrustError) and not executed()


def test_the_trap_of_these_tests_works(tmp_path, evil):
    trap, executed = evil
    pickle.loads(pickle.dumps(trap)).close()
    assert executed()


def test_a_whole_network_needs_trust(tmp_path):
    torch.save(table_net(), tmp_path / "m.pt")
    assert "torch.nn.modules" in refused(tmp_path / "m.pt", TrustError)


@pytest.mark.parametrize("member", ["data.pkl", "constants.pkl"])
def test_a_malicious_pickle_in_a_script_is_not_executed(folder, tmp_path, evil, member):
    trap, executed = evil
    path = rewrite(folder / "table.pt", tmp_path / "m.pt", {f"/{member}": pickle.dumps(trap, 2)})
    refused(path)
    assert not executed()


@pytest.mark.parametrize(
    "member", ["sample_inputs/model.pt", "data/weights/model.pt", "data/constants/model.pt"]
)
def test_a_malicious_pickle_in_an_export_is_not_executed(folder, tmp_path, evil, member):
    trap, executed = evil
    buffer = io.BytesIO()
    torch.save(trap, buffer)
    load(
        rewrite(folder / "table.pt2", tmp_path / "m.pt2", {member: buffer.getvalue()}), device="cpu"
    )
    assert not executed()


def test_pickled_weights_in_an_export_need_trust(folder, tmp_path, evil):
    trap, executed = evil
    config = json.loads(
        zipfile.ZipFile(folder / "table.pt2").read("table/data/weights/model_weights_config.json")
    )
    for entry in config["config"].values():
        entry["use_pickle"] = True
    buffer = io.BytesIO()
    torch.save(trap, buffer)
    changes = {
        "weights_config.json": json.dumps(config).encode(),
        "weights/weight_0": buffer.getvalue(),
    }
    refused(rewrite(folder / "table.pt2", tmp_path / "m.pt2", changes), TrustError)
    assert not executed()


def model_json(folder: Path) -> dict:
    return json.loads(zipfile.ZipFile(folder / "table.pt2").read("table/models/model.json"))


@pytest.mark.parametrize(
    "target",
    [
        "torch.os.system",
        "torch.ops.aten.from_file.default",
        "torch.ops.profiler._record_function_enter.default",
        "math.os",
        "#evil:op",
    ],
)
def test_an_export_with_a_foreign_operation_needs_trust(folder, tmp_path, target):
    document = model_json(folder)
    document["graph_module"]["graph"]["nodes"][-1]["target"] = target
    path = rewrite(
        folder / "table.pt2",
        tmp_path / "m.pt2",
        {"models/model.json": json.dumps(document).encode()},
    )
    assert target in refused(path, TrustError)


def test_shape_expressions_and_names_of_an_export_are_never_evaluated(folder, tmp_path):
    marker = tmp_path / "executed"
    code = f"__import__('pathlib').Path({str(marker)!r}).touch()"
    text = json.dumps(model_json(folder)).replace(
        "Symbol('s77', positive=True, integer=True)", code
    )
    document = json.loads(text)
    document["graph_module"]["graph"]["tensor_values"][code] = {}
    document["guards_code"] = [code]
    path = rewrite(
        folder / "table.pt2",
        tmp_path / "m.pt2",
        {"models/model.json": json.dumps(document).encode()},
    )
    load(path, device="cpu").infer(torch.rand(2, 6))
    assert not marker.exists()


def test_an_export_whose_weights_claim_more_than_they_hold_is_refused(folder, tmp_path):
    config = json.loads(
        zipfile.ZipFile(folder / "table.pt2").read("table/data/weights/model_weights_config.json")
    )
    meta = config["config"]["0.weight"]["tensor_meta"]
    meta["sizes"], meta["strides"] = (
        [{"as_int": 10**6}, {"as_int": 10**6}],
        [{"as_int": 0}, {"as_int": 0}],
    )
    path = rewrite(
        folder / "table.pt2",
        tmp_path / "m.pt2",
        {"weights_config.json": json.dumps(config).encode()},
    )
    assert "does not hold the tensor" in refused(path)


def test_an_export_of_an_old_torch_needs_trust(tmp_path, evil):
    trap, executed = evil
    with zipfile.ZipFile(tmp_path / "m.pt2", "w") as archive:
        archive.writestr("version", "8.0")
        archive.writestr("serialized_exported_program.json", "{}")
        archive.writestr("serialized_state_dict.pt", pickle.dumps(trap))
    refused(tmp_path / "m.pt2", TrustError)
    assert not executed()


def test_a_trusted_export_with_an_unusual_operation_is_read_by_torch(tmp_path):
    class Unusual(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(6, 3)

        def forward(self, x):
            return self.layer(x) + torch.special.bessel_j0(x).sum(1, keepdim=True)

    net = Unusual().eval()
    path = save_exported(net, tmp_path / "m.pt2", torch.rand(2, 6))
    refused(path, TrustError)
    classifier = load(path, device="cpu", trust=True)
    x = torch.rand(3, 6)
    torch.testing.assert_close(classifier.infer(x), net(x).detach())
    assert not classifier.capabilities.activations and classifier.capabilities.reason


class WritesFile(nn.Module):
    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path

    def forward(self, x):
        torch.save(x, self.path)
        return x


def test_a_script_that_writes_a_file_needs_trust(tmp_path):
    marker = tmp_path / "written"
    path = save_script(WritesFile(str(marker)), tmp_path / "m.pt")
    assert "save" in refused(path, TrustError, shape=(6,))
    assert not marker.exists()


def test_an_unknown_type_in_a_skops_file_needs_trust(tmp_path):
    import skops.io
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    x = np.random.default_rng(0).random((30, 3))
    pipeline = make_pipeline(FunctionTransformer(pickle.dumps), LogisticRegression())
    pipeline[1].fit(x, x[:, 0] > 0.5)
    skops.io.dump(pipeline, tmp_path / "m.skops")
    assert "pickle.dumps" in refused(tmp_path / "m.skops", TrustError)


@pytest.mark.parametrize(
    ("field", "value"), [("left_child", 10**6), ("left_child", 0), ("feature", 10**6)]
)
def test_a_tree_that_points_outside_itself_is_refused(tmp_path, field, value):
    import skops.io
    from sklearn.tree import DecisionTreeClassifier

    x = np.random.default_rng(0).random((60, 3))
    tree = DecisionTreeClassifier(max_depth=3).fit(x, x[:, 0] > x[:, 1])
    state = tree.tree_.__getstate__()
    state["nodes"][field][0] = value
    tree.tree_.__setstate__(state)
    skops.io.dump(tree, tmp_path / "m.skops")
    assert "tree" in refused(tmp_path / "m.skops")


def test_an_architecture_file_needs_trust_unless_it_is_ours(folder, tmp_path):
    from robgui import resources

    marker = tmp_path / "executed"
    (tmp_path / "nets.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    weights = tmp_path / "m.pth"
    weights.write_bytes((folder / "table.pth").read_bytes())
    assert "nets.py" in refused(weights, TrustError, architecture="nets.py:table_net")
    refused(weights, TrustError, architecture="this:anything")
    assert not marker.exists()
    assert not is_ours(tmp_path / "nets.py") and is_ours(resources.path() / "demo" / "nets.py")
    assert not is_ours(resources.path() / ".." / "nets.py")


@pytest.mark.parametrize(
    ("architecture", "words"),
    [
        ("nets.py:nothing", "not a torch network"),
        ("nets.py:broken", "no such network"),
        ("nets.py:absent", "there is: image_net"),
        ("absent.py:net", "neither in"),
        ("absent_module:net", "cannot be imported"),
        ("nets.py:table_net(hidden=open('x'))", "plain values"),
        ("nets.py:table_net(hidden=7)", r"of another shape \(0.weight"),
        ("nets.py:image_net", "missing"),
        ("torchvision:resnet18", "torchvision"),
        ("timm:resnet18", "timm"),
        ("nonsense", "does not name a network"),
    ],
)
def test_a_wrong_architecture_is_one_sentence(folder, architecture, words):
    with pytest.raises(ModelError, match=words) as caught:
        load(folder / "table.pth", device="cpu", trust=True, architecture=architecture)
    assert "table.pth" in str(caught.value) and "\n" not in str(caught.value)


@cache
def zeros(names: tuple[str, ...]) -> bytes:
    """An archive with 200 MB under each name, which take a second to pack."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, b"\0" * 200_000_000)
    return packed.getvalue()


def bomb(path: Path, names: tuple[str, ...], *, lie: bool = False) -> Path:
    content = bytearray(zeros(names))
    position = content.find(b"PK\x01\x02") if lie else -1
    while position >= 0:
        content[position + 24 : position + 28] = struct.pack("<I", 1000)
        position = content.find(b"PK\x01\x02", position + 46)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("lie", [False, True])
@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("m.pt2", ("a/archive_format", "a/models/model.json")),
        ("m.pth", ("a/data.pkl",)),
        ("m.pt", ("a/data.pkl", "a/constants.pkl")),
        ("m.skops", ("schema.json",)),
    ],
)
def test_a_zip_bomb_is_refused_within_bounded_memory(tmp_path, file, names, lie):
    path = bomb(tmp_path / file, names, lie=lie)
    tracemalloc.start()
    try:
        refused(path)
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


def test_overlapping_members_are_refused(folder, tmp_path):
    path = tmp_path / "m.pth"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/data.pkl", b"\0" * 10_000)
        info = archive.infolist()[0]
        for index in range(100):
            twin = zipfile.ZipInfo(f"a/data/{index}")
            twin.header_offset, twin.file_size, twin.compress_size, twin.CRC = (
                info.header_offset,
                info.file_size,
                info.compress_size,
                info.CRC,
            )
            archive.filelist.append(twin)
            archive.NameToInfo[twin.filename] = twin
    assert "far larger" in refused(path)


ALL = (
    "image.pt2",
    "image.pt",
    "image.pth",
    "legacy.th",
    "table.safetensors",
    "table.onnx",
    "forest.skops",
)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.98])
@pytest.mark.parametrize("name", ALL)
def test_a_file_that_was_cut_off_is_one_sentence(folder, tmp_path, name, share):
    content = (folder / name).read_bytes()
    path = tmp_path / name
    path.write_bytes(content[: int(len(content) * share)])
    refused(path)


@pytest.mark.parametrize("name", ALL)
def test_a_file_of_noise_is_one_sentence(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(np.random.default_rng(0).bytes(5000))
    refused(path)
    path.write_bytes(b"PK\x03\x04" + np.random.default_rng(0).bytes(5000))
    refused(path)


def test_what_is_no_model_file_is_said(tmp_path):
    assert "does not exist" in refused(tmp_path / "absent.pt")
    (tmp_path / "folder.onnx").mkdir()
    assert "is a folder" in refused(tmp_path / "folder.onnx")
    (tmp_path / "empty.pt2").touch()
    assert "is empty" in refused(tmp_path / "empty.pt2")
    (tmp_path / "m.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(600))
    assert "Keras" in refused(tmp_path / "m.h5")
    (tmp_path / "m.txt").write_text("hello")
    assert "no model this program knows" in refused(tmp_path / "m.txt")
    with zipfile.ZipFile(tmp_path / "m.zip", "w") as archive:
        archive.writestr("a.txt", "a")
    assert "archive" in refused(tmp_path / "m.zip")
    torch.save([1, 2], tmp_path / "list.pth")
    assert "holds no weights" in refused(tmp_path / "list.pth")


def test_a_broken_side_file_is_named(folder, tmp_path):
    path = tmp_path / "m.pt2"
    path.write_bytes((folder / "table.pt2").read_bytes())
    (tmp_path / "m.pt2.toml").write_text("labels = [")
    assert "side file" in refused(path)
    (tmp_path / "m.pt2.toml").write_text("colour = 3")
    assert "no setting 'colour'" in refused(path)


def test_an_unreadable_warning_is_never_shown(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("image.pt2", "image.pt", "table.onnx", "forest.skops"):
            load(folder / name, device="cpu")


def test_a_graph_that_asks_for_any_amount_of_memory_is_refused(folder, tmp_path):
    document = model_json(folder)
    node = document["graph_module"]["graph"]["nodes"][-1]
    node["target"] = "torch.ops.aten.full.default"
    node["inputs"] = [
        {"name": "size", "arg": {"as_ints": [10**6, 10**6]}, "kind": 1},
        {"name": "fill_value", "arg": {"as_float": 1.0}, "kind": 1},
    ]
    path = rewrite(
        folder / "table.pt2",
        tmp_path / "m.pt2",
        {"models/model.json": json.dumps(document).encode()},
    )
    assert "refused" in refused(path)


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [("table.onnx", "onnxruntime", "onnx"), ("forest.skops", "skops", "sklearn")],
)
def test_a_missing_package_is_named_with_its_extra(folder, monkeypatch, name, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'robgui\[{extra}\]'"):
        load(folder / name, device="cpu")


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "m.pt2")
    assert "plain file" in refused(tmp_path / "m.pt2")


@pytest.mark.parametrize(
    "content", [b"\x80\x02X\xff\xff\xff\xefabc.", b"\x80\x02Nr\xff\xff\xff\x7f.", b"\x80\x02"]
)
def test_a_script_whose_pickle_declares_more_than_it_holds_is_refused(folder, tmp_path, content):
    path = rewrite(folder / "table.pt", tmp_path / "m.pt", {"/data.pkl": content})
    assert "is damaged" in refused(path)


def test_a_fitted_network_of_scikit_learn_needs_no_trust(tmp_path):
    import skops.io
    from sklearn.neural_network import MLPClassifier

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = MLPClassifier((3,), max_iter=2, random_state=0).fit(
            np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]
        )
    skops.io.dump(fitted, tmp_path / "m.skops")
    assert load(tmp_path / "m.skops", device="cpu").classes == 2
