"""Model files: loaded without trust, fingerprinted, and asked for one small prediction."""

from __future__ import annotations

import random
import shutil
import warnings
from pathlib import Path

import torch

from robgui import resources
from tests.core.loading.makers import image_net, save_exported, save_script, table_net
from tests.fuzz.kinds.kind import Kind, place
from tests.fuzz.spoiling.archives import Spoil, archive
from tests.fuzz.spoiling.documents import json_bytes
from tests.fuzz.spoiling.graphs import graph_bytes, weights_bytes
from tests.fuzz.spoiling.pickles import pickle_bytes
from tests.fuzz.spoiling.plain import noise, text
from tests.fuzz.spoiling.wire import message
from tests.security.formats.zoo import NETWORKS, network


def load_and_ask(path: Path, dice: random.Random) -> None:
    """What the worker does with a model file."""
    from robgui.core.loading import load

    classifier = load(path, device="cpu")
    assert classifier.fingerprint
    classifier.infer(torch.rand(2, *classifier.shape))


def import_loaders() -> None:
    """Everything that loading imports late."""
    import onnx
    import onnxruntime
    import safetensors.torch
    import sklearn.ensemble
    import sklearn.svm
    import skops.io
    import torch._export.serde.schema

    import robgui.core.loading.loader  # noqa: F401

    torch.set_num_threads(1)
    assert onnx and onnxruntime and safetensors and sklearn and skops


# ---------------------------------------------------------------- torch


def make_exported(folder: Path) -> None:
    """Programs of torch.export: plain, decomposed, recurrent, with attention."""
    save_exported(table_net(), place(folder, "table", ".pt2"), torch.rand(2, 6))
    save_exported(image_net(), place(folder, "image", ".pt2"), torch.rand(2, 1, 28, 28))
    for name in ("resnet", "mobilenet", "vit", "encoder", "lstm", "gru", "cells", "waves"):
        example = torch.rand(2, *NETWORKS[name][1])
        for decompose in (False, True):
            target = place(folder, f"{name} {decompose}", ".pt2")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                save_exported(network(name), target, example, decompose=decompose)


def inside_exported(name: str) -> Spoil:
    """How a part of a .pt2 archive is spoiled."""
    if name.endswith("models/model.json"):
        return graph_bytes
    if name.endswith("_config.json"):
        return weights_bytes
    return json_bytes if name.endswith(".json") else noise


def make_scripts(folder: Path) -> None:
    """TorchScript, scripted and traced."""
    save_script(table_net(), place(folder, "table", ".pt"))
    save_script(image_net(), place(folder, "image", ".pt"))
    for name in ("resnet", "vit", "encoder", "lstm", "gru", "given state", "waves"):
        target = save_script(network(name), place(folder, name, ".pt"))
        side = f"shape = {list(NETWORKS[name][1])}\n"
        target.with_name("main.pt.toml").write_text(side, encoding="utf-8")
    for name in ("resnet", "lstm", "gru"):
        example = torch.rand(2, *NETWORKS[name][1])
        save_script(network(name), place(folder, f"{name} traced", ".pt"), example)


def inside_script(name: str) -> Spoil:
    """How a part of a TorchScript or a torch.save archive is spoiled."""
    if name.endswith(".pkl"):
        return pickle_bytes
    return text if name.endswith(".py") else noise


def make_weights(folder: Path) -> None:
    """State dicts: zip, the old format, and among other things."""
    state = {name: value.contiguous() for name, value in _weights().items()}
    torch.save(state, _with_side(place(folder, "zip", ".pth")))
    torch.save(
        state, _with_side(place(folder, "old", ".pth")), _use_new_zipfile_serialization=False
    )
    torch.save({"epoch": 3, "state_dict": state}, _with_side(place(folder, "nested", ".pth")))


def make_safetensors(folder: Path) -> None:
    """The demo's weights."""
    source = resources.path("demo", "fashion_cnn.safetensors")
    shutil.copy(source, _with_side(place(folder, "cnn", ".safetensors")))


def spoil_safetensors(content: bytes, dice: random.Random, seed: str) -> bytes:
    """The header, or any bytes."""
    if dice.random() < 0.3:
        return noise(content, dice)
    length = int.from_bytes(content[:8], "little")
    head = json_bytes(content[8 : 8 + length], dice)
    size = len(head) if dice.random() < 0.9 else dice.choice((0, 1, length, 2**40, 2**63))
    return size.to_bytes(8, "little") + head + content[8 + length :]


def spoil_weights(content: bytes, dice: random.Random, seed: str) -> bytes:
    """An archive, or one pickle after the other."""
    if content[:2] == b"PK":
        return archive(content, dice, inside_script)
    head = 600
    return (
        pickle_bytes(content, dice)
        if dice.random() < 0.5
        else (noise(content[:head], dice) + content[head:])
    )


def _weights() -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    return load_file(resources.path("demo", "fashion_cnn.safetensors"))


def _with_side(path: Path) -> Path:
    """Names the network in a side file; the demo's networks need no trust."""
    ours = resources.path("demo", "architectures.py")
    path.with_name(path.name + ".toml").write_text(
        f'architecture = "{ours.as_posix()}:cnn"\nshape = [1, 28, 28]\n', encoding="utf-8"
    )
    return path


# ---------------------------------------------------------------- others


def make_onnx(folder: Path) -> None:
    """One ONNX file per operation that is translated, and whole networks."""
    import onnx

    from tests.core.loading.makers import onnx_table_net
    from tests.core.loading.test_onnx import IMAGES, image_classifier

    for name, (nodes, constants, opset) in IMAGES.items():
        target = place(folder, name, ".onnx")
        image_classifier(target.parent, nodes, constants, opset).rename(target)
    onnx.save(onnx_table_net(), place(folder, "table", ".onnx"))
    onnx.save(onnx_table_net(batch=1), place(folder, "fixed", ".onnx"))
    shutil.copy(resources.path("demo", "table_mlp.onnx"), place(folder, "demo", ".onnx"))


def make_skops(folder: Path) -> None:
    """Every estimator that needs no trust."""
    from sklearn.base import clone

    from tests.security.formats.test_sklearn import HONEST, X, Y, save

    for name, model in HONEST.items():
        save(clone(model).fit(X, Y), place(folder, name, ".skops"))


def inside_skops(name: str) -> Spoil:
    """How a part of a skops archive is spoiled."""
    return json_bytes if name.endswith(".json") else array_bytes


def array_bytes(content: bytes, dice: random.Random) -> bytes:
    """An .npy array: its header's text, its numbers, or both."""
    start = content.find(b"{")
    end = content.find(b"\n", start) if start >= 0 else -1
    if end < 0 or dice.random() < 0.4:
        return noise(content[: end + 1 or 1], dice) + noise(content[end + 1 :], dice)
    head = content[start:end].decode("latin-1")
    for old, new in dice.sample(_HEADERS, 2):
        head = head.replace(old, new)
    written = head.encode("latin-1").ljust(end - start)
    length = len(written) + 1 if dice.random() < 0.9 else dice.choice((0, 1, 65535))
    return content[: start - 2] + length.to_bytes(2, "little") + written + content[end:]


_HEADERS = (
    ("<f4", "<f8"),
    ("<f4", "|O"),
    ("<f8", "<c16"),
    ("<f8", "|V100000"),
    ("<i8", "<f8"),
    ("|u1", "<U1000000"),
    ("False", "True"),
    ("(", "(1000000, "),
    ("(", "(-1, "),
    ("(", "(0, "),
    ("(", "(" * 40),
    ("'shape'", "'shapf'"),
    ("}", "} and x()"),
    ("4", "4000000000"),
    ("1", "9" * 30),
)


def kinds() -> list[Kind]:
    """Every format of models."""

    def packed(inside):
        return lambda content, dice, seed: archive(content, dice, inside)

    common = {"open": load_and_ask, "prepare": import_loaders}
    return [
        Kind("pt2", 120, make_exported, packed(inside_exported), **common),
        Kind("script", 120, make_scripts, packed(inside_script), **common),
        Kind("onnx", 130, make_onnx, lambda c, dice, _: message(c, dice), **common),
        Kind("skops", 80, make_skops, packed(inside_skops), **common),
        Kind("pth", 50, make_weights, spoil_weights, **common),
        Kind("safetensors", 40, make_safetensors, spoil_safetensors, **common),
    ]
