"""The name of an architecture, which a side file may bring, builds a network and does nothing
else.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from robgui import resources
from robgui.core.errors import ModelError, TrustError
from robgui.core.loading import load
from tests.security.attacks import refused

#: Stand-ins for libraries that are not installed here, with their signatures; whatever would reach
#: out leaves a mark.
TIMM = """
from pathlib import Path
from torch import nn

def is_model(name):
    return name in ("resnet18", "resnet18.a1_in1k")

def create_model(name, pretrained=False, pretrained_cfg=None, checkpoint_path=None, num_classes=1000, **kwargs):
    if pretrained or pretrained_cfg or checkpoint_path or kwargs:
        Path(MARK).touch()
    return nn.Sequential(nn.Linear(6, num_classes))
"""
TORCHVISION = """
from torch import nn
from . import models
"""
MODELS = """
import sys
from pathlib import Path
from torch import nn

def resnet18(*, weights=None, progress=True, **kwargs):
    if weights is not None or set(kwargs) - {"num_classes"}:
        Path(MARK).touch()
    return nn.Sequential(nn.Linear(6, kwargs.get("num_classes", 1000)))

def fasterrcnn_resnet50_fpn(*, weights=None, num_classes=None, weights_backbone="IMAGENET1K_V1", **kwargs):
    if weights is not None or weights_backbone is not None:
        Path(MARK).touch()
    return nn.Sequential(nn.Linear(6, num_classes or 91))

_BUILDERS = {"resnet18": resnet18, "fasterrcnn_resnet50_fpn": fasterrcnn_resnet50_fpn}

def list_models(module=None, include=None, exclude=None):
    return ["resnet18"] if module is sys.modules[__name__] else list(_BUILDERS)

def get_model_builder(name):
    return _BUILDERS[name]

def get_model_weights(name):
    return []

def get_model(name, **config):
    return get_model_builder(name)(**config)
"""


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    torch.save(nn.Sequential(nn.Linear(6, 3)).state_dict(), tmp_path / "m.pth")
    return tmp_path / "m.pth"


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that exists once a stand-in was made to reach out."""
    mark, place = tmp_path / "mark", tmp_path / "libraries"
    (place / "torchvision" / "models").mkdir(parents=True)
    (place / "timm").mkdir()
    (place / "timm" / "__init__.py").write_text(TIMM.replace("MARK", repr(str(mark))))
    (place / "torchvision" / "__init__.py").write_text(TORCHVISION)
    (place / "torchvision" / "models" / "__init__.py").write_text(
        MODELS.replace("MARK", repr(str(mark)))
    )
    monkeypatch.syspath_prepend(str(place))
    import sys

    for name in [name for name in sys.modules if name.partition(".")[0] in ("timm", "torchvision")]:
        monkeypatch.delitem(sys.modules, name)
    yield mark
    for name in [name for name in sys.modules if name.partition(".")[0] in ("timm", "torchvision")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    "architecture",
    [
        "timm:resnet18",
        "timm:resnet18.a1_in1k(num_classes=3)",
        "torchvision:resnet18(num_classes=3)",
    ],
)
def test_a_network_of_a_library_is_built_without_trust(weights, mark, architecture):
    assert load(weights, device="cpu", architecture=architecture).classes == 3
    assert not mark.exists()


@pytest.mark.parametrize(
    "architecture",
    [
        "timm:resnet18(checkpoint_path='evil.pth')",
        "timm:resnet18(pretrained=True)",
        "timm:resnet18(pretrained_cfg={'file': 'evil.pth'})",
        "timm:resnet18(True)",
        "timm:resnet18(num_classes=3, checkpoint_path='evil.pth')",
        "torchvision:resnet18(weights='DEFAULT')",
        "torchvision:resnet18(num_classes=3, progress=False)",
    ],
)
def test_arguments_for_a_library_need_trust(weights, mark, architecture):
    assert "without trust only num_classes" in refused(
        weights, TrustError, architecture=architecture
    )
    assert not mark.exists()


@pytest.mark.parametrize(
    "architecture",
    [
        "torchvision:fasterrcnn_resnet50_fpn",
        "torchvision:fasterrcnn_resnet50_fpn(num_classes=3)",
        "timm:nothing",
        "timm:hf-hub/evil",
        "timm:resnet18(num_classes=0)",
        "timm:resnet18(num_classes=10**9)",
        "timm:resnet18(num_classes=1000000000)",
        "timm:resnet18(num_classes=True)",
        "timm:resnet18(num_classes='3')",
    ],
)
def test_only_listed_classifiers_with_a_sensible_number_of_classes_are_built(
    weights, mark, architecture
):
    refused(weights, ModelError, architecture=architecture)
    assert not mark.exists()


def test_even_a_trusted_network_downloads_no_weights_of_its_own_accord(weights, mark):
    load(
        weights,
        device="cpu",
        trust=True,
        architecture="torchvision:fasterrcnn_resnet50_fpn(num_classes=3, progress=False)",
    )
    assert not mark.exists()


def test_weights_that_claim_any_number_of_classes_build_no_endless_network(tmp_path, mark):
    torch.save({"0.weight": torch.rand(1, 6).expand(2**40, 6)}, tmp_path / "m.pth")
    refused(tmp_path / "m.pth", ModelError, architecture="timm:resnet18")


@pytest.mark.parametrize(
    "call",
    [
        "nn.modules.module.torch.os.system('touch MARK')",
        "nn.Linear(1000000, 1000000)",
        "RowReader(10)",
        "cnn(classes='touch MARK')",
        "cnn(10)",
        "absent",
    ],
)
def test_our_own_file_of_networks_is_no_way_to_other_functions(weights, tmp_path, call):
    mark = tmp_path / "mark"
    ours = resources.path() / "demo" / "architectures.py"
    refused(weights, ModelError, architecture=f"{ours}:{call}".replace("MARK", str(mark)))
    assert not mark.exists()


@pytest.mark.parametrize("file", ["make.py", "files.py", "../meshes/make.py"])
def test_the_scripts_that_made_the_demo_are_not_executed_for_a_file(weights, file):
    script = resources.path() / "demo" / file
    assert script.is_file()
    assert "executes the Python file" in refused(weights, TrustError, architecture=f"{script}:main")


def test_the_demo_that_names_our_file_needs_no_trust():
    assert load(resources.path() / "demo" / "fashion_cnn.safetensors", device="cpu").classes == 10
