"""The pretended device refuses what CUDA refuses, allows what it allows, and counts."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from robgui.core.devices import autocast, devices, to_device, to_host
from robgui.core.devices import cards as cards_in_use

PLACES = ["pretend:0", "pretend:1"]


@pytest.fixture(params=PLACES)
def place(request) -> torch.device:
    return torch.device(request.param)


def test_a_tensor_says_where_it_is_and_computes_real_numbers(place):
    x = torch.arange(6, device=place).float().reshape(2, 3)
    assert x.device == place and (x @ x.T).device == place
    assert (x @ x.T).tolist() == [[5.0, 14.0], [14.0, 50.0]]


@pytest.mark.parametrize(
    "make",
    [
        lambda d: torch.zeros(2, device=d),
        lambda d: torch.full((2,), 0.5, device=d),
        lambda d: torch.tensor([1, 2], device=d),
        lambda d: torch.as_tensor(np.ones(2), device=d),
        lambda d: torch.linspace(0, 1, 2, device=d),
        lambda d: torch.eye(2, device=d),
        lambda d: torch.rand(2, device=d),
        lambda d: torch.ones(2).to(d),
        lambda d: torch.zeros(2, device=d).new_tensor([1.0, 2.0]),
        lambda d: torch.empty_like(torch.zeros(2, device=d)),
        lambda d: torch.ones(2).to(torch.zeros(2, device=d)),
    ],
)
def test_every_way_of_making_a_tensor_leads_to_the_device(make, place):
    assert make(place).device == place


def test_classes_as_rows_of_one_stay_on_their_device(place, cards):
    rows = nn.functional.one_hot(torch.tensor([2, 0], device=place), 3)
    assert rows.device == place and cards[place.index].reads == 0
    assert rows.tolist() == [[0, 0, 1], [1, 0, 0]]


def test_tensors_of_two_places_do_not_mix(place):
    x = torch.ones(3, device=place)
    other = torch.device(PLACES[1 - place.index])
    for mixed in (
        lambda: x + torch.ones(3),
        lambda: torch.cat([x, torch.ones(3)]),
        lambda: nn.functional.linear(x[None], torch.ones(2, 3)),
        lambda: x + torch.ones(3, device=other),
        lambda: x.index_select(0, torch.tensor([0])),
    ):
        with pytest.raises(RuntimeError, match="device"):
            mixed()


def test_numbers_and_indices_of_the_host_are_taken_as_on_cuda(place):
    x = torch.ones(3, device=place)
    assert (x * torch.tensor(2.0)).tolist() == [2.0, 2.0, 2.0]
    assert x[torch.tensor([0, 2])].tolist() == [1.0, 1.0]
    x[torch.tensor([1])] = 5.0
    assert x.tolist() == [1.0, 5.0, 1.0]


def test_numpy_is_refused_until_the_numbers_are_on_the_host(place):
    x = torch.ones(3, device=place)
    for refused in (x.numpy, lambda: np.asarray(x)):
        with pytest.raises(TypeError, match="can't convert pretend"):
            refused()
    assert x.cpu().numpy().tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "read",
    [
        lambda x: x.cpu(),
        lambda x: x.tolist(),
        lambda x: x[0].item(),
        lambda x: float(x[0]),
        lambda x: bool((x > 0).any()),
        lambda x: x[x > 0],
        lambda x: (x > 0).nonzero(),
        lambda x: torch.equal(x, x),
        torch.unique,
        lambda x: torch.bincount(x.long()),
    ],
)
def test_a_read_is_counted_once_with_the_line_that_asked(read, place, cards):
    x = torch.ones(3, device=place)
    before = cards[place.index].reads
    read(x)
    assert cards[place.index].reads == before + 1
    assert sum(cards[place.index].sites.values()) == cards[place.index].reads


def test_what_stays_on_the_device_is_no_read(place, cards):
    x = torch.ones(3, device=place)
    torch.where(x > 0, x, 0.0).masked_fill(x > 2, 1.0).sum()
    x[x > 2] = 0.0
    x[torch.tensor([0], device=place)] = 1.0
    assert cards[place.index].reads == 0


def test_random_numbers_need_a_generator_of_the_device(place):
    own = torch.Generator(place).manual_seed(3)
    drawn = torch.rand(4, generator=own, device=place)
    again = torch.rand(4, generator=torch.Generator(place).manual_seed(3), device=place)
    assert torch.equal(drawn, again)
    for foreign in ("cpu", PLACES[1 - place.index]):
        with pytest.raises(RuntimeError, match="generator"):
            torch.rand(4, generator=torch.Generator(foreign), device=place)


def test_a_device_may_draw_numbers_of_its_own_as_a_gpu_does(place, cards):
    cards[place.index].own_numbers = True
    ours = torch.rand(4, generator=torch.Generator(place).manual_seed(3), device=place)
    host = torch.rand(4, generator=torch.Generator("cpu").manual_seed(3))
    assert not np.allclose(ours.cpu(), host)


def test_past_its_cap_it_raises_torchs_own_error_and_frees_what_is_dropped(place, cards):
    card = cards[place.index]
    card.cap = card.live + 4000
    kept = torch.zeros(500, device=place)
    with pytest.raises(torch.OutOfMemoryError, match="out of memory"):
        torch.zeros(1000, device=place)
    view = kept[:10]
    assert card.live == card.cap - 2000, "a view takes no memory"
    del kept, view
    assert card.live == card.cap - 4000 and card.peak == card.cap - 2000


def test_gradients_are_those_of_the_cpu_and_memory_may_run_out_in_the_backward_pass(place, cards):
    torch.manual_seed(0)
    module = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(3 * 36, 4))
    x = torch.rand(2, 1, 8, 8)
    wanted = torch.autograd.grad(module(x.requires_grad_()).square().sum(), x)[0]
    module.to(place)
    there = x.detach().to(place).requires_grad_()
    found = torch.autograd.grad(module(there).square().sum(), there)[0]
    assert found.device == place and np.allclose(found.cpu(), wanted, atol=1e-5)
    loss = module(there).square().sum()
    cards[place.index].cap = cards[place.index].live
    with pytest.raises(torch.OutOfMemoryError):
        torch.autograd.grad(loss, there)


@pytest.mark.parametrize("layer", [nn.LSTM, nn.GRU])
def test_a_recurrent_layer_has_no_backward_pass_while_cudnn_is_on(layer, place):
    torch.manual_seed(0)
    module = layer(3, 4, batch_first=True).eval()
    x = torch.rand(2, 5, 3, requires_grad=True)
    wanted = torch.autograd.grad(module(x)[0].square().sum(), x)[0]
    module.to(place)
    there = x.detach().to(place).requires_grad_()
    with pytest.raises(RuntimeError, match="cudnn RNN backward"):
        torch.autograd.grad(module(there)[0].square().sum(), there)
    with torch.backends.cudnn.flags(enabled=False):
        found = torch.autograd.grad(module(there)[0].square().sum(), there)[0]
    assert np.allclose(found.cpu(), wanted, atol=1e-6)


def test_half_precision_halves_products_there(place):
    module = nn.Linear(3, 2).to(place)
    with autocast(place, enabled=True):
        half = module(torch.ones(1, 3, device=place))
    with autocast(place, enabled=False):
        single = module(torch.ones(1, 3, device=place))
    assert (half.dtype, single.dtype) == (torch.bfloat16, torch.float32)


def test_to_host_brings_any_tensors_bit_for_bit_in_one_read(place, cards):
    torch.manual_seed(0)
    tensors = [
        torch.rand(3, 2),
        torch.tensor(True),
        torch.arange(5),
        torch.zeros(0, 3),
        torch.rand(3, dtype=torch.float64),
        torch.rand(2, 3).T,
    ]
    arrays = to_host(*(each.to(place) for each in tensors))
    assert cards[place.index].reads == 1
    for array, tensor in zip(arrays, tensors, strict=True):
        assert array.dtype == tensor.numpy().dtype and np.array_equal(array, tensor.numpy())
    assert to_host() == ()


def test_the_seams_tell_of_the_devices_and_their_memory(place, cards):
    kept = to_device(torch.zeros(1000), place)
    assert kept.device == place and cards[place.index].sends == 1
    assert [name for name, _ in devices()][:1] != PLACES, "the default stays what it is"
    assert str(place) in dict(devices())
    used, total = cards_in_use()[str(place)]
    assert 4000 <= used <= total


def test_a_copy_to_the_host_that_nobody_waits_for_is_refused(place):
    with pytest.raises(AssertionError, match="nobody waits"):
        torch.ones(2, device=place).to("cpu", non_blocking=True)
