"""Checkpoints of Lightning, timm and torchvision, plain .bin files, and class names in ONNX."""

from __future__ import annotations

import hashlib
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from torch import nn

import robgui
from robgui.core.errors import IncompleteModelError, ModelError, TrustError
from robgui.core.loading import load
from robgui.core.loading.libraries import import_torchvision, library
from robgui.core.model.class_names import names_in
from tests.core.loading.makers import onnx_table_net, table_net

NET = """
import lightning
import torch
from torch import nn

class Net(lightning.LightningModule):
    def __init__(self, features, hidden=5, classes=3, rate=0.1):
        super().__init__()
        self.save_hyperparameters()
        self.body = nn.Sequential(nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, classes))

    def forward(self, x):
        return self.body(x)

    def training_step(self, batch, index):
        return nn.functional.cross_entropy(self(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), self.hparams.rate)
"""


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory) -> tuple[Path, nn.Module]:
    """A network that Lightning has trained and saved, and the network."""
    import_torchvision()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a library that warns of itself
        pytest.importorskip("lightning")
        return trained(tmp_path_factory.mktemp("lightning"))


def trained(folder: Path) -> tuple[Path, nn.Module]:
    import lightning

    (folder / "net.py").write_text(NET)
    names: dict = {}
    exec(compile(NET, "net.py", "exec"), names)  # noqa: S102
    net = names["Net"](features=6, hidden=7, classes=4)
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = lightning.Trainer(
        max_steps=2, accelerator="cpu", default_root_dir=folder, enable_checkpointing=False, **quiet
    )
    data = torch.utils.data.TensorDataset(torch.rand(8, 6), torch.randint(0, 4, (8,)))
    trainer.fit(net, torch.utils.data.DataLoader(data, batch_size=4))
    trainer.save_checkpoint(folder / "last.ckpt")
    return folder / "last.ckpt", net.eval()


def test_a_lightning_checkpoint_is_built_with_its_hyper_parameters_and_answers_alike(checkpoint):
    path, net = checkpoint
    with pytest.raises(IncompleteModelError, match="architecture"):
        load(path, device="cpu")
    with pytest.raises(TrustError, match=r"net\.py"):
        load(path, device="cpu", architecture="net.py:Net")
    model = load(path, trust=True, device="cpu", architecture="net.py:Net")
    x = torch.rand(5, 6)
    theirs = net(x).softmax(1).detach()
    assert float((model.probs(x) - theirs).abs().max()) < 1e-5
    assert model.classes == 4 and any("hidden" in remark for remark in model.remarks)


def test_a_checkpoint_with_code_in_its_hyper_parameters_is_not_executed(tmp_path, evil):
    trap, executed = evil
    stored = {"state_dict": table_net().state_dict(), "hyper_parameters": {"a": trap}}
    torch.save({**stored, "pytorch-lightning_version": "2.6"}, tmp_path / "m.ckpt")
    with pytest.raises(TrustError, match="would execute"):
        load(tmp_path / "m.ckpt", device="cpu", architecture="nets.py:net")
    assert not executed()


@pytest.mark.parametrize("zipped", [True, False])
def test_weights_called_bin_are_weights_and_a_trap_called_bin_is_refused(tmp_path, evil, zipped):
    (tmp_path / "nets.py").write_text("from torch import nn\ndef net():\n return nn.Linear(6, 3)\n")
    net = nn.Linear(6, 3)
    kept = {"_use_new_zipfile_serialization": zipped}
    torch.save(net.state_dict(), tmp_path / "m.bin", **kept)
    model = load(tmp_path / "m.bin", trust=True, device="cpu", architecture="nets.py:net")
    x = torch.rand(4, 6)
    torch.testing.assert_close(model.probs(x), net(x).softmax(1).detach(), atol=1e-5, rtol=0)
    trap, executed = evil
    torch.save({"w": trap}, tmp_path / "evil.bin", **kept)
    with pytest.raises(TrustError):
        load(tmp_path / "evil.bin", device="cpu", architecture="nets.py:net")
    assert not executed()


@pytest.fixture
def torchvision():
    found = library("torchvision")
    if found is None:
        pytest.skip("torchvision is not installed")
    return found


def test_weights_of_torchvision_bring_transforms_and_names(torchvision, tmp_path):
    torch.manual_seed(0)
    net = torchvision.models.squeezenet1_1(weights=None).eval()
    torch.save(net.state_dict(), tmp_path / "m.pth")
    model = load(tmp_path / "m.pth", device="cpu", architecture="torchvision:squeezenet1_1")
    weights = torchvision.models.SqueezeNet1_1_Weights.IMAGENET1K_V1
    assert model.labels == tuple(weights.meta["categories"])
    pixels = torch.randint(0, 256, (2, 3, 224, 224), dtype=torch.uint8)
    way = weights.transforms()
    mean, std = (torch.tensor(each)[:, None, None] for each in (way.mean, way.std))
    theirs = net((pixels / 255 - mean) / std).softmax(1).detach()
    assert float((model.probs(pixels / 255) - theirs).abs().max()) < 1e-5
    assert (model.settings.resize, model.settings.crop) == ("crop", 0.875)
    assert any("SqueezeNet1_1_Weights" in remark for remark in model.remarks)


def test_a_file_that_torchvision_publishes_is_known_by_its_content(torchvision, tmp_path, request):
    models = torchvision.models
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3))
    torch.save(net.state_dict(), tmp_path / "renamed.pth")
    digest = hashlib.sha256((tmp_path / "renamed.pth").read_bytes()).hexdigest()
    way = partial(torchvision.transforms._presets.ImageClassification, crop_size=40, resize_size=44)
    published = models.Weights(
        url=f"https://localhost/tiny-{digest[:8]}.pth",
        transforms=way,
        meta={"categories": ["a", "b", "c"]},
    )

    class Tiny_Weights(models.WeightsEnum):  # noqa: N801  (torchvision's way of naming)
        V1 = published

    def tiny_net(*, weights=None, num_classes=3):
        return nn.Sequential(*net)

    tiny_net.__annotations__ = {"weights": Tiny_Weights | None}
    tiny_net.__module__ = "torchvision.models.tiny"
    models._api.BUILTIN_MODELS["tiny_net"] = tiny_net
    request.addfinalizer(lambda: models._api.BUILTIN_MODELS.pop("tiny_net"))
    model = load(tmp_path / "renamed.pth", device="cpu")
    assert model.settings.architecture == "torchvision:tiny_net"
    assert model.labels == ("a", "b", "c") and model.shape == (3, 40, 40)
    assert int(40 / model.settings.crop) == 44


def test_a_checkpoint_of_a_timm_network_brings_its_preprocessing(tmp_path):
    timm = library("timm")
    if timm is None:
        pytest.skip("timm is not installed")
    net = timm.create_model("mobilenetv3_small_050", pretrained=False).eval()
    torch.save(net.state_dict(), tmp_path / "m.pth")
    model = load(tmp_path / "m.pth", device="cpu", architecture="timm:mobilenetv3_small_050")
    assert model.settings.mean == net.pretrained_cfg["mean"] and model.settings.resize == "crop"
    small = timm.create_model("mobilenetv3_small_050", pretrained=False, num_classes=7)
    torch.save(small.state_dict(), tmp_path / "s.pth")
    other = load(tmp_path / "s.pth", device="cpu", architecture="timm:mobilenetv3_small_050")
    assert other.settings.mean == (0.0,), "retrained on something else"


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("names", "{0: 'cat', 1: 'dog', 2: 'owl'}"),
        ("labels", '["cat", "dog", "owl"]'),
        ("id2label", '{"0": "cat", "1": "dog", "2": "owl"}'),
        ("classes", "cat, dog, owl"),
    ],
)
def test_class_names_in_an_onnx_file_are_taken(tmp_path, key, text):
    net = onnx_table_net()
    onnx.helper.set_model_props(net, {key: text, "author": "somebody"})
    onnx.save(net, tmp_path / "m.onnx")
    assert load(tmp_path / "m.onnx", device="cpu").labels == ("cat", "dog", "owl")
    said = load(tmp_path / "m.onnx", device="cpu", labels=("x", "y", "z"))
    assert said.labels == ("x", "y", "z"), "what the user says wins"


def test_names_that_are_not_as_many_as_the_classes_are_left_out_and_told(tmp_path):
    net = onnx_table_net()
    onnx.helper.set_model_props(net, {"names": "{0: 'cat', 1: 'dog'}"})
    onnx.save(net, tmp_path / "m.onnx")
    model = load(tmp_path / "m.onnx", device="cpu")
    assert model.labels == ("0", "1", "2")
    assert any("names 2 classes but gives 3" in remark for remark in model.remarks)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "one",
        "__import__('os').system('true')",
        "[" * 100_000,
        "{0: 'a', 2: 'b'}",
        "[1, 2]",
        "9",
    ],
)
def test_what_is_no_list_of_names_gives_none(text):
    assert names_in(text) == ()


def test_a_module_is_taken_straight_from_python_and_stays_as_it_was():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 5))
    x = torch.rand(2, 3, 8, 8)
    plain = robgui.run("zonnscan", net, x[0], samples=64, radii=(0.0, 0.1))
    wrapped = robgui.Classifier.from_module(nn.Sequential(*net), (3, 8, 8))
    again = robgui.run("zonnscan", wrapped, x[0], samples=64, radii=(0.0, 0.1))
    np.testing.assert_allclose(plain.index, again.index, atol=1e-5)


@pytest.mark.parametrize("form", ["array", "one", "channels last", "path", "dataset"])
def test_the_shape_of_a_modules_input_follows_from_the_inputs(tmp_path, form):
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 5))
    x = np.random.default_rng(0).random((2, 3, 9, 9), dtype=np.float32)
    np.save(tmp_path / "x.npy", x)
    given = {
        "array": x,
        "one": x[0],
        "channels last": np.moveaxis(x, 1, 3),
        "path": tmp_path / "x.npy",
        "dataset": robgui.open_dataset(tmp_path / "x.npy"),
    }[form]
    going = robgui.steps("zonnscan", net, given, samples=8, radii=(0.0,))
    (model,) = going.execution.request.models
    assert model.options["shape"] == [3, 9, 9]
    assert net.training and net[0].weight.requires_grad, "the caller's own network is left alone"


def test_a_module_that_fits_nothing_is_one_sentence():
    with pytest.raises(ModelError, match="Linear"):
        robgui.run("zonnscan", nn.Linear(3, 2), np.zeros((4, 5), np.float32))
