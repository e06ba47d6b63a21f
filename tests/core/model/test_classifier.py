"""Classifier: normalisation, layouts, kinds of output, memory, and what must not happen on a
GPU.
"""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from robgui.core.errors import ModelError
from robgui.core.model.classifier import Classifier
from robgui.core.model.foreign import out_of_memory
from tests.guards import count_host_syncs, no_deviceless_factories


class Sees(nn.Module):
    """Returns its flattened input, so that a test sees what the raw model sees."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.shape = shape

    def forward(self, x):
        assert tuple(x.shape[1:]) == self.shape
        return x.flatten(1)


def linear(features: int = 6, classes: int = 3) -> nn.Linear:
    torch.manual_seed(0)
    return nn.Linear(features, classes)


def images(count: int = 4) -> torch.Tensor:
    return torch.rand(count, 3, 4, 5, generator=torch.Generator().manual_seed(1))


values = st.floats(-100, 100, width=32)


@given(
    low=values,
    span=st.floats(0.1, 300),
    mean=st.tuples(values, values, values),
    std=st.floats(0.01, 10),
)
def test_the_model_sees_low_plus_x_times_the_span_minus_mean_over_std(low, span, mean, std):
    classifier = Classifier.from_module(
        Sees((3, 4, 5)),
        (3, 4, 5),
        low=(low,),
        high=(low + span,),
        mean=mean,
        std=(std,),
        output="logits",
    )
    x = images().double()
    expected = (low + x * span - torch.tensor(mean, dtype=torch.float64)[:, None, None]) / std
    torch.testing.assert_close(
        classifier.infer(images()).double(), expected.flatten(1), rtol=1e-4, atol=1e-3
    )


def test_table_columns_have_their_own_bounds():
    classifier = Classifier.from_module(
        Sees((2,)), (2,), low=(0.0, 10.0), high=(1.0, 20.0), output="logits"
    )
    torch.testing.assert_close(
        classifier.infer(torch.tensor([[0.5, 0.5]])), torch.tensor([[0.5, 15.0]])
    )
    units = np.array([[0.25, 12.0]], dtype=np.float32)
    np.testing.assert_allclose(classifier.decode(classifier.encode(units)), units)


@pytest.mark.parametrize(
    ("layout", "raw", "expected"),
    [
        ("chw", (3, 4, 5), lambda x: x),
        ("hwc", (4, 5, 3), lambda x: x.permute(0, 2, 3, 1)),
        ("flat", (60,), lambda x: x.flatten(1)),
        ("column", (60, 1), lambda x: x.flatten(1)[..., None]),
    ],
)
def test_layouts_are_what_the_raw_model_wants(layout, raw, expected):
    classifier = Classifier.from_module(Sees(raw), (3, 4, 5), layout=layout, output="logits")
    torch.testing.assert_close(classifier.infer(images()), expected(images()).flatten(1))


def test_bgr_turns_the_channels_round():
    classifier = Classifier.from_module(
        Sees((3, 4, 5)), (3, 4, 5), channels="bgr", mean=(1.0, 2.0, 3.0), output="logits"
    )
    normalised = images() - torch.tensor([1.0, 2.0, 3.0])[:, None, None]
    torch.testing.assert_close(classifier.infer(images()), normalised.flip(1).flatten(1))


def test_probabilities_are_told_from_logits_and_kept():
    net = nn.Sequential(linear(), nn.Softmax(1))
    classifier = Classifier.from_module(net, (6,))
    x = torch.rand(5, 6)
    assert classifier.settings.output == "probabilities"
    torch.testing.assert_close(classifier.probs(x), net(x).detach())
    assert Classifier.from_module(linear(), (6,)).settings.output == "logits"


def test_a_function_of_tensors_gives_gradients():
    net = linear()
    classifier = Classifier.from_callable(
        lambda x: net(x) * 1.0, (6,), labels=("a", "b", "c"), name="f"
    )
    x = torch.rand(2, 6, requires_grad=True)
    classifier.logits(x).sum().backward()
    assert (
        x.grad is not None
        and classifier.capabilities.gradients
        and classifier.labels == ("a", "b", "c")
    )


def test_a_function_of_numpy_arrays_is_a_black_box():
    weight = np.random.default_rng(0).random((6, 3)).astype(np.float32)

    def scores(x: np.ndarray) -> np.ndarray:
        assert isinstance(x, np.ndarray)
        return np.asarray(x @ weight)

    classifier = Classifier.from_callable(scores, (6,))
    x = torch.rand(4, 6)
    torch.testing.assert_close(classifier.infer(x), x @ torch.from_numpy(weight))
    assert not classifier.capabilities.gradients and not classifier.capabilities.activations
    with pytest.raises(ModelError, match="cannot show its activations"):
        classifier.activations(x)


def test_a_function_that_returns_a_list_of_probabilities_is_understood():
    classifier = Classifier.from_callable(lambda x: [[0.25, 0.75]] * len(x), (6,))
    assert classifier.settings.output == "probabilities"
    torch.testing.assert_close(classifier.probs(torch.rand(3, 6)), torch.tensor([[0.25, 0.75]] * 3))


def test_a_function_that_raises_is_one_sentence():
    def broken(x: object) -> None:
        raise KeyError("weights")

    with pytest.raises(ModelError, match="broken: the function raised KeyError"):
        Classifier.from_callable(broken, (6,))


def test_several_labels_use_the_sigmoid():
    net = linear()
    classifier = Classifier.from_module(net, (6,), multi_label=True)
    x = torch.rand(4, 6)
    torch.testing.assert_close(classifier.probs(x), net(x).sigmoid().detach())
    from_probabilities = Classifier.from_module(
        nn.Sequential(net, nn.Sigmoid()), (6,), multi_label=True, output="probabilities"
    )
    torch.testing.assert_close(
        from_probabilities.probs(x), net(x).sigmoid().detach(), rtol=1e-4, atol=1e-6
    )


def test_a_single_score_is_two_classes():
    net = linear(6, 1)
    x = torch.rand(4, 6)
    torch.testing.assert_close(
        Classifier.from_module(net, (6,)).probs(x)[:, 1], net(x).sigmoid()[:, 0].detach()
    )
    probability = Classifier.from_module(nn.Sequential(net, nn.Sigmoid()), (6,))
    torch.testing.assert_close(probability.probs(x)[:, 1], net(x).sigmoid()[:, 0].detach())
    with pytest.raises(ModelError, match="cannot be multi-label"):
        Classifier.from_module(net, (6,), multi_label=True)


def test_the_lowest_score_wins_when_told_so():
    net = linear()
    x = torch.rand(20, 6)
    classifier = Classifier.from_module(net, (6,), lowest_wins=True)
    assert (classifier.probs(x).argmax(1) == net(x).argmin(1)).all()


def test_batches_do_not_change_the_scores():
    classifier = Classifier.from_module(linear(), (6,))
    x = torch.rand(33, 6)
    for batch in (1, 7, 33, 100):
        torch.testing.assert_close(classifier.infer(x, batch=batch), classifier.infer(x))
    assert classifier.infer(x[:0]).shape == (0, 3)


class Forgetful(nn.Module):
    """Runs out of memory at random calls with more than one input, and always above ``most``
    inputs.
    """

    def __init__(self, seed: int, most: int) -> None:
        super().__init__()
        self.layer = linear()
        self.generator = np.random.default_rng(seed)
        self.most = most
        self.armed = False

    def forward(self, x):
        if self.armed and (len(x) > self.most or (len(x) > 1 and self.generator.random() < 0.3)):
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return self.layer(x)


@given(seed=st.integers(0, 10**6), most=st.integers(1, 40), count=st.integers(1, 90))
def test_running_out_of_memory_at_random_calls_does_not_change_the_result(seed, most, count):
    net = Forgetful(seed, most)
    classifier = Classifier.from_module(net, (6,))
    sentences: list[str] = []
    classifier.notice = sentences.append
    x = torch.rand(count, 6, generator=torch.Generator().manual_seed(seed))
    expected = classifier.infer(x)
    net.armed = True
    torch.testing.assert_close(classifier.infer(x), expected)
    if count > most:
        assert sentences and "out of memory" in sentences[0] and "going on with" in sentences[0]


def test_too_little_memory_for_one_input_is_said():
    net = Forgetful(0, 0)
    classifier = Classifier.from_module(net, (6,))
    net.armed = True
    with pytest.raises(ModelError, match="not enough memory for a single input"):
        classifier.infer(torch.rand(4, 6))


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("x"),
        RuntimeError("CUDA out of memory"),
        RuntimeError("can't allocate memory"),
        ValueError("Failed to allocate memory for requested buffer"),
    ],
)
def test_every_shape_of_out_of_memory_is_known(error):
    assert out_of_memory(error)


def test_scores_that_are_not_finite_are_refused_in_words():
    class Divides(nn.Module):
        def forward(self, x):
            return torch.cat([x.log(), x], 1)

    classifier = Classifier.from_module(Divides(), (1,))
    with pytest.raises(ModelError, match="not finite"):
        classifier.infer(torch.zeros(2, 1))


@pytest.mark.parametrize("broken", [float("nan"), float("inf"), float("-inf")])
def test_scores_are_checked_together_at_the_end(broken):
    classifier = Classifier.from_callable(lambda x: torch.cat([x, -x], 1), (1,), output="logits")
    sound, unsound = torch.ones((2, 1)), torch.tensor([[1.0], [broken]])
    with classifier.checked_together():
        asked = [classifier.infer(x) for x in (sound, torch.ones((3, 1)), sound)]
    assert [len(scores) for scores in asked] == [2, 3, 2]
    for order in ((sound, unsound, sound), (unsound, sound)):
        with pytest.raises(ModelError, match="not finite"), classifier.checked_together():
            asked += [classifier.infer(x) for x in order]
    assert len(asked) == 8
    with pytest.raises(ModelError, match="not finite"):
        classifier.infer(unsound)
    with pytest.raises(ModelError, match="not finite"):
        classifier.sound(classifier.infer(unsound, checked=False))
    assert len(classifier.sound(classifier.infer(sound, checked=False))) == 2


def test_a_model_that_raises_later_is_one_sentence():
    class Picky(nn.Module):
        def forward(self, x):
            if float(x.sum()) > 1e6:
                raise IndexError("too bright\nsecond line")
            return x

    classifier = Classifier.from_module(Picky(), (3,))
    for call in (classifier.infer, lambda x: classifier.logits(torch.as_tensor(x))):
        with pytest.raises(
            ModelError, match=r"Picky: the model raised IndexError .* too bright\.$"
        ):
            call(torch.full((1, 3), 1e9))


def test_inputs_of_another_shape_are_refused_in_words():
    classifier = Classifier.from_module(linear(), (6,))
    with pytest.raises(ModelError, match=r"takes inputs of shape \(6,\); these have shape \(5,\)"):
        classifier.infer(torch.rand(2, 5))
    assert classifier.infer(torch.rand(6)).shape == (1, 3)


def test_labels_must_be_as_many_as_classes():
    with pytest.raises(ModelError, match="3 classes but has 2 labels"):
        Classifier.from_module(linear(), (6,), labels=("a", "b"))


def test_other_settings_keep_the_weights_and_change_the_fingerprint():
    classifier = Classifier.from_module(linear(), (6,))
    classifier.remarks = ("found",)
    other = classifier.with_settings(classifier.settings.change(mean=(0.5,)))
    x = torch.rand(3, 6)
    torch.testing.assert_close(other.infer(x), classifier.infer(x - 0.5))
    assert other.fingerprint != classifier.fingerprint and other.remarks == ("found",)
    assert Classifier.from_module(linear(), (6,)).fingerprint == classifier.fingerprint


def test_calls_count_inputs():
    classifier = Classifier.from_module(linear(), (6,))
    before = classifier.calls
    classifier.infer(torch.rand(10, 6), batch=4)
    classifier.logits(torch.rand(2, 6))
    assert classifier.calls - before == 12


def test_autocast_and_channels_last_change_little():
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(4 * 2 * 3, 3))
    classifier = Classifier.from_module(net, (3, 4, 5))
    exact = classifier.probs(images())
    torch.testing.assert_close(classifier.to("cpu", channels_last=True).probs(images()), exact)
    torch.testing.assert_close(
        classifier.to("cpu", autocast=True).probs(images()), exact, rtol=0, atol=0.05
    )


def test_activations_hold_every_layer_in_order_and_reduced():
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(24, 3))
    classifier = Classifier.from_module(net, (3, 4, 5))
    scores, layers = classifier.activations(images(), lambda output: output.flatten(1).mean(1))
    assert list(layers) == ["0", "3"] and all(value.shape == (4,) for value in layers.values())
    torch.testing.assert_close(scores, classifier.infer(images()))


def test_activations_are_those_of_the_caller_while_another_thread_uses_the_same_model():
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(24, 3))
    classifier = Classifier.from_module(net, (3, 4, 5))
    stop = threading.Event()

    def disturb():
        while not stop.is_set():
            classifier.infer(images()[:1])

    other = threading.Thread(target=disturb)
    other.start()
    try:
        for _ in range(200):
            _, layers = classifier.activations(images())
            assert all(len(value) == 4 for value in layers.values())
    finally:
        stop.set()
        other.join()


@pytest.mark.parametrize("count", [8, 64])
def test_the_host_waits_once_per_call_never_once_per_input(count):
    classifier = Classifier.from_module(linear(), (6,), mean=(0.5,))
    x = torch.rand(count, 6)
    with count_host_syncs() as one_batch:
        classifier.infer(x)
    with count_host_syncs() as eight_batches:
        classifier.infer(x, batch=count // 8)
    assert one_batch.total == eight_batches.total == 1


def test_no_tensor_is_made_without_a_device():
    classifier = Classifier.from_module(linear(), (6,), mean=(0.5,))
    net, x = linear(), np.random.default_rng(0).random((5, 6), dtype=np.float32)
    with no_deviceless_factories():
        classifier.probs(x)
        classifier.activations(x)
        classifier.with_settings(classifier.settings.change(mean=(0.1,)))
        Classifier.from_module(net, (6,))


def test_the_guards_themselves_find_what_they_are_for():
    with (
        pytest.raises(AssertionError, match=r"torch\.zeros was called without a device"),
        no_deviceless_factories(),
    ):
        torch.zeros(3)
    with count_host_syncs() as syncs:
        for value in torch.rand(5, device="cpu"):
            value.item()
    assert syncs.scalars == 5
