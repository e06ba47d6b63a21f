"""Every format: a round trip equal to the network it was made from, with gradients and
activations where promised.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from robgui.core.devices import devices
from robgui.core.errors import ModelError
from robgui.core.loading import default_device, load
from robgui.core.model.settings import side_file
from tests.core.loading.makers import image_net, save_exported, save_forest, save_script, table_net
from tests.guards import no_deviceless_factories

WEIGHTS = {
    "table.pth": "nets.py:table_net",
    "legacy.th": "nets.py:table_net",
    "table.safetensors": "nets.py:table_net(hidden=5)",
    "image.pth": "nets.py:image_net",
}
WHITE = ("image.pt2", "table.pt2", "image.pt", "table.pt", "table.onnx", *WEIGHTS)


def open_model(folder: Path, name: str):
    architecture = WEIGHTS.get(name, "")
    return load(folder / name, trust=bool(architecture), device="cpu", architecture=architecture)


def original(name: str) -> nn.Module:
    return image_net() if name.startswith("image") else table_net()


@pytest.mark.parametrize("name", WHITE)
def test_scores_are_those_of_the_network_that_was_saved(folder, name):
    classifier = open_model(folder, name)
    x = torch.rand(5, *classifier.shape, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        expected = original(name)(x)
    torch.testing.assert_close(classifier.infer(x), expected)
    torch.testing.assert_close(classifier.infer(x, batch=2), expected)


@pytest.mark.parametrize("name", WHITE)
def test_gradients_are_those_of_the_network_that_was_saved(folder, name):
    classifier, net = open_model(folder, name), original(name)
    x = torch.rand(3, *classifier.shape, generator=torch.Generator().manual_seed(2))
    mine, theirs = x.clone().requires_grad_(), x.clone().requires_grad_()
    classifier.logits(mine)[:, 1].sum().backward()
    net(theirs)[:, 1].sum().backward()
    assert classifier.capabilities.gradients
    torch.testing.assert_close(mine.grad, theirs.grad)


@pytest.mark.parametrize("name", WHITE)
def test_activations_are_the_outputs_of_the_convolution_and_linear_layers(folder, name):
    classifier, net = open_model(folder, name), original(name)
    x = torch.rand(3, *classifier.shape, generator=torch.Generator().manual_seed(3))
    expected = []
    for layer in net:
        if isinstance(layer, nn.Conv2d | nn.Linear):
            layer.register_forward_hook(
                lambda module, inputs, output: expected.append(output.detach())
            )
    net(x)
    scores, layers = classifier.activations(x)
    assert len(layers) == 2
    for seen, wanted in zip(layers.values(), expected, strict=True):
        torch.testing.assert_close(seen, wanted)
    torch.testing.assert_close(scores, classifier.infer(x))


@pytest.mark.parametrize("name", WHITE)
def test_a_loaded_model_makes_no_tensor_without_a_device(folder, name):
    classifier = open_model(folder, name)
    x = torch.rand(3, *classifier.shape)
    with no_deviceless_factories():
        classifier.probs(x)
        classifier.logits(x)


def test_layers_have_the_names_of_the_network(folder):
    x = torch.rand(1, 6)
    assert list(open_model(folder, "table.pt2").activations(x)[1]) == ["0", "2"]
    assert list(open_model(folder, "table.pt").activations(x)[1]) == ["0", "2"]
    assert list(open_model(folder, "table.pth").activations(x)[1]) == ["0", "2"]
    assert list(open_model(folder, "table.onnx").activations(x)[1]) == ["first", "second"]


def test_a_decomposed_export_shows_its_layers(tmp_path):
    path = save_exported(image_net(), tmp_path / "m.pt2", torch.rand(2, 1, 28, 28), decompose=True)
    classifier = load(path, device="cpu")
    x = torch.rand(3, 1, 28, 28)
    scores, layers = classifier.activations(x)
    assert {name: tuple(value.shape) for name, value in layers.items()} == {
        "0": (3, 4, 28, 28),
        "6": (3, 10),
    }
    torch.testing.assert_close(scores, image_net()(x))


@pytest.mark.parametrize("batch", [1, 4])
def test_an_export_for_a_fixed_batch_takes_any_number(tmp_path, batch):
    classifier = load(
        save_exported(image_net(), tmp_path / "m.pt2", torch.rand(batch, 1, 28, 28), free=False),
        device="cpu",
    )
    x = torch.rand(6, 1, 28, 28, requires_grad=True)
    torch.testing.assert_close(classifier.logits(x), image_net()(x))
    scores, layers = classifier.activations(x, lambda output: output.flatten(1).amax(1))
    assert [len(value) for value in layers.values()] == [6, 6] and len(scores) == 6
    assert any(f"batches of {batch}" in remark for remark in classifier.remarks)
    assert classifier.parameters == sum(tensor.numel() for tensor in image_net().parameters())


def test_an_export_in_training_mode_is_switched_to_evaluation(tmp_path):
    path = save_exported(image_net().train(), tmp_path / "m.pt2", torch.rand(2, 1, 28, 28))
    classifier = load(path, device="cpu")
    x = torch.rand(4, 1, 28, 28)
    torch.testing.assert_close(classifier.infer(x), image_net()(x))
    assert any("training mode" in remark for remark in classifier.remarks)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 8, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


@pytest.mark.parametrize("suffix", ["pt2", "pt"])
def test_a_recurrent_network_on_sequences_round_trips(tmp_path, suffix):
    torch.manual_seed(0)
    net, x = Recurrent().eval(), torch.rand(5, 7, 4)
    path = tmp_path / f"m.{suffix}"
    save_exported(net, path, x) if suffix == "pt2" else save_script(net, path)
    classifier = load(path, device="cpu", shape=(7, 4))
    assert classifier.kind == "sequence"
    torch.testing.assert_close(classifier.infer(x), net(x).detach())


def test_a_traced_script_with_a_fixed_batch_runs_one_by_one(tmp_path):
    class Stiff(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(6, 3)

        def forward(self, x):
            return self.layer(x.reshape(1, 6))

    torch.manual_seed(0)
    net = Stiff().eval()
    classifier = load(save_script(net, tmp_path / "m.pt", torch.rand(1, 6)), device="cpu")
    x = torch.rand(4, 6)
    torch.testing.assert_close(classifier.infer(x), net.layer(x).detach())
    assert any("one by one" in remark for remark in classifier.remarks)


def test_a_forest_from_skops_answers_with_its_probabilities_and_labels(folder):
    import skops.io

    classifier = load(folder / "forest.skops", device="cpu")
    forest = skops.io.load(
        folder / "forest.skops", trusted=skops.io.get_untrusted_types(file=folder / "forest.skops")
    )
    x = np.random.default_rng(1).random((9, 6), dtype=np.float32)
    np.testing.assert_allclose(classifier.probs(x).numpy(), forest.predict_proba(x), atol=1e-6)
    assert (
        classifier.labels == ("a", "b", "c")
        and classifier.kind == "table"
        and classifier.shape == (6,)
    )
    assert (
        not classifier.capabilities.gradients and "scikit-learn" in classifier.capabilities.reason
    )


def test_a_linear_model_without_probabilities_is_asked_for_its_decision_function(tmp_path):
    import skops.io
    from sklearn.svm import LinearSVC

    x = np.random.default_rng(0).random((40, 4))
    svm = LinearSVC(random_state=0).fit(x, x[:, 0] > 0.5)
    skops.io.dump(svm, tmp_path / "m.skops")
    classifier = load(tmp_path / "m.skops", device="cpu")
    assert classifier.labels == ("False", "True")
    assert (classifier.infer(x).argmax(1).numpy() == svm.predict(x)).all()


def test_a_trusted_pickle_of_a_scikit_learn_model_is_loaded(tmp_path):
    import joblib
    from sklearn.linear_model import LogisticRegression

    x = np.random.default_rng(0).random((40, 4))
    joblib.dump(LogisticRegression().fit(x, x[:, 0] > 0.5), tmp_path / "m.joblib")
    assert load(tmp_path / "m.joblib", trust=True, device="cpu").classes == 2


def test_column_names_are_kept_and_cause_no_warning(tmp_path):
    import skops.io
    from sklearn.linear_model import LogisticRegression

    x = np.random.default_rng(0).random((40, 2))
    model = LogisticRegression().fit(x, x[:, 0] > 0.5)
    model.feature_names_in_ = np.array(["length", "width"], dtype=object)
    skops.io.dump(model, tmp_path / "m.skops")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier = load(tmp_path / "m.skops", device="cpu")
        classifier.probs(x)
    assert classifier.settings.features == ("length", "width")


@pytest.mark.parametrize("nest", ["state_dict", "model", "model_state_dict"])
def test_nested_and_prefixed_weights_are_found(folder, tmp_path, nest):
    wrapped = {
        nest: {f"module.{name}": value for name, value in table_net().state_dict().items()},
        "epoch": 3,
        "best": np.float64(0.5),
    }
    torch.save(wrapped, tmp_path / "m.pth")
    classifier = load(
        tmp_path / "m.pth", trust=True, device="cpu", architecture=f"{folder / 'nets.py'}:table_net"
    )
    x = torch.rand(2, 6)
    torch.testing.assert_close(classifier.infer(x), table_net()(x).detach())


def test_numbers_of_numpy_beside_the_weights_need_no_trust(tmp_path):
    torch.save(
        {"state_dict": table_net().state_dict(), "best": np.float64(0.5)}, tmp_path / "m.pth"
    )
    with pytest.raises(ModelError, match="holds weights only"):
        load(tmp_path / "m.pth")


def test_a_whole_network_is_loaded_when_trusted(tmp_path):
    torch.save(table_net(), tmp_path / "m.pt")
    classifier = load(tmp_path / "m.pt", trust=True, device="cpu")
    assert classifier.shape == (6,) and classifier.classes == 3


def test_overrides_win_over_the_side_file_and_the_side_file_over_the_guess(folder, tmp_path):
    path = tmp_path / "m.pt2"
    path.write_bytes((folder / "table.pt2").read_bytes())
    side_file(path).write_text('labels = ["a", "b", "c"]\nmean = [0.5]\n')
    assert load(path, device="cpu").labels == ("a", "b", "c")
    classifier = load(path, device="cpu", labels=("x", "y", "z"))
    assert classifier.labels == ("x", "y", "z") and classifier.settings.mean == (0.5,)


def test_the_fingerprint_changes_with_weights_and_settings_only(folder, tmp_path):
    first = load(folder / "table.pt2", device="cpu")
    copied = tmp_path / "other_name.pt2"
    copied.write_bytes((folder / "table.pt2").read_bytes())
    assert load(copied, device="cpu").fingerprint == first.fingerprint
    assert load(copied, device="cpu", mean=(0.5,)).fingerprint != first.fingerprint
    assert load(folder / "table.onnx", device="cpu").fingerprint != first.fingerprint


def test_the_content_decides_not_the_extension(folder, tmp_path):
    path = tmp_path / "table.onnx"
    path.write_bytes((folder / "table.pt2").read_bytes())
    assert load(path, device="cpu").remarks[0] == "torch.export file"


def test_the_devices_end_with_the_cpu_and_begin_with_the_default():
    found = devices()
    assert found[-1][0] == "cpu" and torch.device(found[0][0]) == default_device()


def test_a_device_that_is_not_there_is_said(folder):
    with pytest.raises(ModelError, match="device"):
        load(folder / "table.pt2", device="cuda:97")


def test_a_forest_file_can_be_written_twice_with_the_same_answers(tmp_path, folder):
    other = load(save_forest(tmp_path / "again.skops"), device="cpu")
    x = np.zeros((1, 6), dtype=np.float32)
    torch.testing.assert_close(other.probs(x), load(folder / "forest.skops", device="cpu").probs(x))


def test_a_frozen_script_shows_its_layers_without_their_names(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.freeze(torch.jit.script(table_net())).save(str(tmp_path / "m.pt"))
    classifier = load(tmp_path / "m.pt", device="cpu", shape=(6,))
    x = torch.rand(3, 6)
    scores, layers = classifier.activations(x)
    assert list(layers) == ["linear", "linear (2)"]
    torch.testing.assert_close(scores, table_net()(x).detach())
