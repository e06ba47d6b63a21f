"""Networks of other libraries: Keras files, TensorFlow Lite files, folders of Hugging Face.

What has no library here is left out.
"""

from __future__ import annotations

import importlib.util
import os
import random
import sys
import warnings
from pathlib import Path

import torch

from tests.fuzz.kinds.kind import Kind, place
from tests.fuzz.kinds.models import import_loaders, load_and_ask, spoil_safetensors
from tests.fuzz.spoiling.archives import Spoil, archive
from tests.fuzz.spoiling.documents import json_bytes
from tests.fuzz.spoiling.flat import lite_bytes
from tests.fuzz.spoiling.plain import noise

# ---------------------------------------------------------------- Keras


def import_keras() -> None:
    """What a Keras file imports late."""
    if "keras" not in sys.modules:
        os.environ["KERAS_BACKEND"] = "torch"
    import h5py
    import keras

    import_loaders()
    assert h5py and keras


def make_keras(folder: Path) -> None:
    """Networks with convolutions, a recurrent layer, attention, and what widens its input."""
    import_keras()
    import keras

    layers = keras.layers
    image, steps = keras.Input((12, 12, 3)), keras.Input((7, 4))
    y = layers.Rescaling(2.0, -1.0)(image)
    y = layers.BatchNormalization()(layers.Conv2D(4, 3, activation="relu")(y))
    y = layers.UpSampling2D(2)(layers.ZeroPadding2D(1)(keras.ops.relu(y) + y))
    y = layers.Dropout(0.5)(layers.GlobalAveragePooling2D()(layers.Conv2DTranspose(3, 2)(y)))
    z = layers.Bidirectional(layers.LSTM(3, return_sequences=True))(steps)
    z = layers.LayerNormalization()(layers.MultiHeadAttention(2, 3)(z, z))
    z = layers.Flatten()(layers.Permute((2, 1))(layers.Reshape((7, 6))(z)))
    z = layers.Flatten()(layers.RepeatVector(3)(z))
    plain = [layers.Dense(8, activation="gelu"), layers.GRU(4), layers.Dense(3)]
    made = {
        "image": keras.Model(image, layers.Dense(5, activation="softmax")(y)),
        "steps": keras.Model(steps, layers.Dense(5)(z)),
        "plain": keras.Sequential([keras.Input((7, 4)), *plain]),
    }
    for name, network in made.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            network.save(place(folder, name, ".keras"))


def inside_keras(name: str) -> Spoil:
    """How a part of a .keras archive is spoiled."""
    return json_bytes if name.endswith(".json") else noise


def spoil_keras(content: bytes, dice: random.Random, seed: str) -> bytes:
    """The description, the weights, or the archive."""
    return archive(content, dice, inside_keras)


# ---------------------------------------------------------------- TensorFlow Lite


def import_lite() -> None:
    """What a TensorFlow Lite file imports late."""
    import ai_edge_litert.interpreter  # noqa: F401

    import_loaders()


def make_lite(folder: Path) -> None:
    """A dense network, plain and quantised, and one with an operation of every family."""
    from tests.core.loading.test_tflite import made
    from tests.fuzz.kinds.lite import made_of_many

    made(place(folder, "dense", ".tflite"))
    made(place(folder, "quantised", ".tflite"), quantised=True)
    made_of_many(place(folder, "many", ".tflite"))


def spoil_lite(content: bytes, dice: random.Random, seed: str) -> bytes:
    """Fields of its tables, or any bytes."""
    return lite_bytes(content, dice)


# ---------------------------------------------------------------- folders


def import_folders() -> None:
    """What a folder imports late."""
    from robgui.core.loading.libraries import import_torchvision

    import_torchvision()
    import transformers.models.auto.modeling_auto  # noqa: F401

    import_loaders()


def make_folders(folder: Path) -> None:
    """Small classifiers with attention and with convolutions, as their library saves them."""
    import_folders()
    import transformers as hf

    sizes = {"num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    sizes |= {"hidden_size": 16, "image_size": 16, "patch_size": 8}
    small = {"depths": [1, 1], "hidden_sizes": [8, 8], "num_stages": 2}
    narrow = {"embedding_size": 8, "layer_type": "basic"}
    names = {0: "cat", 1: "dog", 2: "owl"}
    made = {
        "vit": hf.ViTForImageClassification(hf.ViTConfig(**sizes, id2label=names)),
        "deit": hf.DeiTForImageClassification(hf.DeiTConfig(**sizes, id2label=names)),
        "resnet": hf.ResNetForImageClassification(
            hf.ResNetConfig(**small, **narrow, id2label=names)
        ),
        "convnext": hf.ConvNextForImageClassification(
            hf.ConvNextConfig(**small, id2label=names, image_size=32)
        ),
    }
    for name, network in made.items():
        torch.manual_seed(0)
        network.eval().save_pretrained(folder / name)
        hf.ViTImageProcessor(size={"height": 16, "width": 16}).save_pretrained(folder / name)


def part_of_folder(folder: Path, dice: random.Random) -> Path:
    """The description most often, else how pictures come in, or the weights."""
    chance = dice.random()
    if chance < 0.6:
        return folder / "config.json"
    return folder / ("preprocessor_config.json" if chance < 0.8 else "model.safetensors")


def spoil_folder(content: bytes, dice: random.Random, seed: str) -> bytes:
    """The drawn part by what it is."""
    if content[:1] == b"{":
        return json_bytes(content, dice)
    return spoil_safetensors(content, dice, seed)


def load_folder(path: Path, dice: random.Random) -> None:
    """Loads the folder that the part belongs to."""
    load_and_ask(path.parent, dice)


def kinds() -> list[Kind]:
    """Every kind whose library is here."""
    every = [
        ("keras", Kind("keras", 40, make_keras, spoil_keras, load_and_ask, import_keras)),
        ("ai_edge_litert", Kind("tflite", 40, make_lite, spoil_lite, load_and_ask, import_lite)),
        (
            "transformers",
            Kind(
                "folder",
                40,
                make_folders,
                spoil_folder,
                load_folder,
                import_folders,
                part_of_folder,
            ),
        ),
    ]
    return [kind for package, kind in every if importlib.util.find_spec(package) is not None]
