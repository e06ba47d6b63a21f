"""Folders of Hugging Face and timm open as their own library opens them, and run no code."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from safetensors.torch import load_file, save_file

from robgui.cli import main
from robgui.core.dataset import inputs, open_dataset
from robgui.core.errors import MissingExtraError, ModelError
from robgui.core.loading import load
from robgui.core.loading.folders.pictures import (
    hugging_face_settings,
    share_of,
    timm_settings,
)
from robgui.core.loading.libraries import import_torchvision, library
from robgui.core.model.remembered import content, recall, remember
from robgui.core.model.settings import parse

NAMES = {0: "cat", 1: "dog", 2: "owl"}
PICTURES = {
    "do_resize": True,
    "do_normalize": True,
    "image_mean": [0.5] * 3,
    "image_std": [0.2] * 3,
}


def transformers():
    import_torchvision()
    return pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def vit(tmp_path_factory) -> tuple[Path, torch.nn.Module]:
    """A folder as the library itself saves it, and the network it was saved from."""
    hf = transformers()
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    sizes |= {"intermediate_size": 64, "image_size": 32, "patch_size": 8}
    net = hf.ViTForImageClassification(hf.ViTConfig(**sizes, id2label=NAMES)).eval()
    torch.nn.init.normal_(net.classifier.weight)
    folder = tmp_path_factory.mktemp("hf") / "vit"
    net.save_pretrained(folder)
    size = {"height": 32, "width": 32}
    hf.ViTImageProcessor(size=size, image_mean=[0.5] * 3).save_pretrained(folder)
    return folder, net


@pytest.fixture
def copied(vit, tmp_path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    for file in vit[0].iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def change(folder: Path, **values: object) -> Path:
    described = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**described, **values}))
    return folder


def refused(path: Path, error: type[ModelError] = ModelError) -> str:
    with pytest.raises(error) as caught:
        load(path, trust=True, device="cpu")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_hugging_face_folder_answers_as_transformers_does(vit):
    folder, net = vit
    hf = transformers()
    model = load(folder, device="cpu")
    pixels = np.random.default_rng(0).integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)
    processor = hf.AutoImageProcessor.from_pretrained(folder)
    theirs = net(**processor(list(pixels), return_tensors="pt")).logits.softmax(1).detach()
    ours = model.probs(np.moveaxis(pixels, 3, 1) / np.float32(255))
    assert float((ours - theirs).abs().max()) < 1e-5
    assert model.labels == ("cat", "dog", "owl") and model.shape == (3, 32, 32)
    assert model.settings.mean == (0.5, 0.5, 0.5) and model.settings.resize == "squash"
    assert model.capabilities.gradients and model.capabilities.activations


@pytest.mark.parametrize(
    "name", ["DeiTForImageClassification", "DeiTForImageClassificationWithTeacher"]
)
def test_of_two_networks_of_one_type_the_folder_says_which(tmp_path, name):
    hf = transformers()
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    sizes |= {"intermediate_size": 64, "image_size": 32, "patch_size": 8}
    net = getattr(hf, name)(hf.DeiTConfig(**sizes, id2label=NAMES)).eval()
    net.save_pretrained(tmp_path / "deit")
    model = load(tmp_path / "deit", device="cpu")
    x = torch.rand(2, 3, 32, 32)
    theirs = net(x).logits.softmax(1).detach()
    assert float((model.probs(x) - theirs).abs().max()) < 1e-5
    assert any("preprocessing" in remark for remark in model.remarks), (
        "it says that it says nothing"
    )


def test_a_photo_of_another_size_is_brought_to_it_as_transformers_does(vit, tmp_path):
    folder, net = vit
    hf = transformers()
    pixels = np.random.default_rng(1).integers(0, 256, (9, 7, 3), dtype=np.uint8)
    photo = Image.fromarray(pixels).resize((70, 90), Image.Resampling.BICUBIC)
    photo.save(tmp_path / "photo.png")
    model = load(folder, device="cpu")
    x = inputs(model, open_dataset(tmp_path / "photo.png").framed(model.settings.framing))
    processor = hf.AutoImageProcessor.from_pretrained(folder)
    theirs = net(**processor(photo, return_tensors="pt")).logits.softmax(1).detach()
    assert float((model.probs(x) - theirs).abs().max()) < 1e-3, "one level of a byte apart"


@pytest.mark.parametrize("size", [(90, 70), (61, 130), (64, 64)])
def test_pictures_are_squashed_and_cut_as_the_processor_of_deit_does(tmp_path, size):
    hf = transformers()
    folder = tmp_path / "deit"
    hf.DeiTConfig(image_size=56).save_pretrained(folder)
    processor = hf.DeiTImageProcessor(size={"height": 64, "width": 64}, crop_size=56)
    processor.save_pretrained(folder)
    given = json.loads((folder / "preprocessor_config.json").read_text())
    told, remarks = hugging_face_settings({"num_channels": 3}, given)
    settings = parse(told, "deit")
    assert (settings.resize, settings.shape) == ("squash-crop", (3, 56, 56))
    assert remarks == ["its preprocessing is taken from preprocessor_config.json"]
    small = np.random.default_rng(1).integers(0, 256, (9, 7, 3), dtype=np.uint8)
    photo = np.array(Image.fromarray(small).resize(size, Image.Resampling.BICUBIC))
    mine = settings.framing.apply(photo, 56, 56) / 255
    theirs = processor(photo, return_tensors="np").pixel_values[0]
    raw = (mine - np.array(settings.mean)) / np.array(settings.std)
    assert np.abs(np.moveaxis(raw, 2, 0) - theirs).max() < 1.01 / 255 / min(settings.std)


@pytest.mark.parametrize("name", ["", "config.json", "model.safetensors"])
def test_the_folder_its_description_and_its_weights_open_the_same_model(vit, name):
    model = load(vit[0] / name, device="cpu")
    assert model.fingerprint == load(vit[0], device="cpu").fingerprint


def test_weights_in_parts_and_as_a_plain_pickle_are_read(copied, vit):
    whole = load(copied, device="cpu")
    tensors = load_file(copied / "model.safetensors")
    (copied / "model.safetensors").unlink()
    torch.save(tensors, copied / "pytorch_model.bin")
    x = torch.rand(2, 3, 32, 32)
    assert torch.equal(load(copied, device="cpu").probs(x), whole.probs(x))
    (copied / "pytorch_model.bin").unlink()
    names = sorted(tensors)
    places = {}
    for number, part in enumerate((names[:9], names[9:])):
        save_file({name: tensors[name] for name in part}, copied / f"part{number}.safetensors")
        places |= dict.fromkeys(part, f"part{number}.safetensors")
    listed = copied / "model.safetensors.index.json"
    listed.write_text(json.dumps({"weight_map": places}))
    assert torch.equal(load(copied, device="cpu").probs(x), whole.probs(x))
    listed.write_text(json.dumps({"weight_map": {"w": "../../etc/passwd"}}))
    assert "outside its folder" in refused(copied)


def test_what_is_said_of_a_folder_is_found_again_by_its_content(copied, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    model = load(copied, device="cpu")
    remember(copied, model.settings.change(mean=(0.25,)))
    moved = copied.rename(tmp_path / "moved")
    assert recall(moved)["mean"] == (0.25,)
    before = content(moved)
    change(moved, hidden_act="relu")
    assert content(moved) != before and recall(moved) == {}


def test_code_that_a_folder_names_is_never_run_even_with_trust(copied, tmp_path):
    (copied / "modeling_evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    named = {
        "AutoModelForImageClassification": "modeling_evil.Net",
        "AutoConfig": "modeling_evil.C",
    }
    change(copied, auto_map=named)
    assert "auto_map" in refused(copied) and "modeling_evil" in refused(copied)
    change(copied, model_type="evil")
    refused(copied)
    assert not (tmp_path / "ran").exists()


def test_a_pickle_in_a_folder_is_never_executed_even_with_trust(copied, evil):
    trap, executed = evil
    (copied / "model.safetensors").unlink()
    torch.save({"weight": trap}, copied / "pytorch_model.bin")
    assert "safetensors" in refused(copied) and not executed()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"num_hidden_layers": 10**9}, "num_hidden_layers"),
        ({"hidden_size": 10**12}, "hidden_size"),
        ({"vision_config": {"num_hidden_layers": 10**9}}, "num_hidden_layers"),
        ({"quantization_config": {"quant_method": "evil"}}, "quantization_config"),
        ({"use_pretrained_backbone": True}, "use_pretrained_backbone"),
        ({"model_type": "bert"}, "no image classifier"),
        ({"model_type": "timm_wrapper"}, "no image classifier"),
        ({"hidden_size": 64}, "another shape"),
        ({"num_hidden_layers": 3}, "missing"),
        ({"hidden_size": "text"}, "model"),
        ({"id2label": {"7": "a"}}, ""),
    ],
)
def test_a_description_that_cannot_be_right_is_one_sentence(copied, values, words):
    assert words in refused(change(copied, **values))


def test_without_transformers_one_sentence_names_the_extra(tmp_path, monkeypatch):
    import sys

    (tmp_path / "config.json").write_text('{"model_type": "vit"}')
    save_file({"a.weight": torch.zeros(2)}, tmp_path / "model.safetensors")
    monkeypatch.setitem(sys.modules, "transformers", None)
    monkeypatch.setitem(sys.modules, "transformers.models.auto.configuration_auto", None)
    assert "robgui[hf]" in refused(tmp_path, MissingExtraError)


@pytest.mark.parametrize("name", ["config.json", "preprocessor_config.json"])
def test_a_document_without_end_is_refused_at_once(copied, name):
    (copied / name).unlink()
    os.mkfifo(copied / name)
    assert "\n" not in refused(copied)


@pytest.mark.parametrize(
    ("processor", "expected"),
    [
        (
            {
                "size": {"shortest_edge": 256},
                "do_center_crop": True,
                "crop_size": 224,
                "resample": 3,
            },
            {"shape": (3, 224, 224), "resize": "crop", "crop": 0.875, "interpolation": "bicubic"},
        ),
        (
            {"size": {"shortest_edge": 224}, "crop_pct": 0.875},
            {"shape": (3, 224, 224), "resize": "crop", "crop": 0.875},
        ),
        ({"size": {"shortest_edge": 384}, "crop_pct": 1.0}, {"resize": "squash"}),
        ({"size": 224}, {"shape": (3, 224, 224), "resize": "squash"}),
        (
            {"size": {"height": 256, "width": 256}, "do_center_crop": True, "crop_size": 224},
            {"shape": (3, 224, 224), "resize": "squash-crop", "crop": 0.875},
        ),
        ({"size": 32, "do_rescale": False}, {"low": (0.0,), "high": (255.0,)}),
        ({"size": 32, "rescale_offset": True, "rescale_factor": 1 / 127.5}, {"low": (-1.0,)}),
        ({"size": 32, "do_flip_channel_order": True}, {"channels": "bgr"}),
        ({"size": 32, "do_normalize": False}, {"mean": None}),
        (
            {"size": 32, "image_processor_type": "MobileViTImageProcessor", "do_normalize": None},
            {"mean": None},
        ),
        ({}, {"mean": None, "shape": (3, 64, 64)}),
    ],
)
def test_every_way_of_saying_the_preprocessing_is_understood(processor, expected):
    given = {**PICTURES, **processor} if processor else {}
    told, _ = hugging_face_settings({"image_size": 64}, given)
    assert {name: told.get(name) for name in expected} == expected
    assert "-0.0" not in str(told)


@pytest.mark.parametrize(("kept", "scaled"), [(224, 256), (224, 232), (288, 321), (10, 97)])
def test_a_share_gives_back_the_whole_number_of_pixels(kept, scaled):
    assert int(kept / share_of(kept, scaled)) == scaled


@pytest.fixture
def timm_folder(tmp_path) -> tuple[Path, torch.nn.Module]:
    timm = library("timm")
    if timm is None:
        pytest.skip("timm is not installed")
    torch.manual_seed(0)
    net = timm.create_model("mobilenetv3_small_050", pretrained=False, num_classes=4).eval()
    folder = tmp_path / "timm"
    timm.models.save_for_hf(net, folder, {"label_names": ["a", "b", "c", "d"]})
    return folder, net


def test_a_timm_folder_answers_as_timm_does(timm_folder):
    folder, net = timm_folder
    model = load(folder, device="cpu")
    x = torch.rand(2, 3, 224, 224)
    way = library("timm").data.resolve_data_config(model=net)
    mean, std = (torch.tensor(way[name])[:, None, None] for name in ("mean", "std"))
    theirs = net((x - mean) / std).softmax(1).detach()
    assert float((model.probs(x) - theirs).abs().max()) < 1e-5
    assert model.labels == ("a", "b", "c", "d")
    settings = model.settings
    assert (settings.resize, settings.crop) == ("crop", way["crop_pct"])
    assert settings.interpolation == way["interpolation"]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"architecture": "hf-hub:evil/net"}, "no network called"),
        ({"architecture": "local-dir:/tmp"}, "no network called"),
        ({"model_args": {"checkpoint_path": "/tmp/evil.pth"}}, "checkpoint_path"),
        ({"model_args": {"pretrained": True}}, "pretrained"),
        ({"model_args": {"img_size": 10**9}}, "img_size"),
        ({"num_classes": 5}, "another shape"),
        ({"auto_map": {"AutoModel": "evil.Net"}}, "auto_map"),
    ],
)
def test_a_timm_description_leads_nowhere_else(timm_folder, values, words):
    assert words in refused(change(timm_folder[0], **values))


#: Anything that may stand in a document.
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**6) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = ["size", "crop_size", "do_resize", "do_center_crop", "resample", "crop_pct", "image_mean"]
KEYS += ["image_std", "rescale_factor", "do_rescale", "do_normalize", "image_processor_type"]
KEYS += ["rescale_offset", "input_size", "mean", "std", "interpolation", "crop_mode"]
DESCRIBED = ["image_size", "num_channels", "id2label", "problem_type"]


@given(
    processor=st.dictionaries(st.sampled_from(KEYS), JSON),
    described=st.dictionaries(st.sampled_from(DESCRIBED), JSON),
)
def test_whatever_a_document_says_becomes_settings_or_one_sentence(processor, described):
    for told in (hugging_face_settings(described, processor)[0], timm_settings(processor)):
        said = ""
        try:
            parse(dict(told), "model")
        except ModelError as error:
            said = str(error)
        assert "\n" not in said


def test_advice_for_a_library_that_asks_for_one_torch_names_the_torch_that_is_there():
    sentence = str(MissingExtraError("m", "timm"))
    assert sentence.endswith(f"'robgui[timm]' torch=={torch.__version__.partition('+')[0]}")
    assert "torch==" not in str(MissingExtraError("m", "keras"))


def test_a_folder_opens_in_the_process_that_models_live_in(vit, capsys):
    assert main(["inspect", str(vit[0]), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["classes"] == ["cat", "dog", "owl"]
