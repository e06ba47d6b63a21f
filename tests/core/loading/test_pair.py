"""Two models as one: where two linear models disagree is known."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from robgui.analyses.last_particle import LastParticleParams, last_particle
from robgui.analyses.zonnscan import ZonnscanParams
from robgui.cli import main
from robgui.core.dataset import from_arrays
from robgui.core.errors import ModelError
from robgui.core.execution.registry import find
from robgui.core.identify import Format, Kind, identify
from robgui.core.loading import load
from robgui.core.model.pairing import write_pair


class Half(nn.Module):
    """Class 1 where the first value is above a bound; the second value plays no part."""

    def __init__(self, bound: float, turned: bool = False) -> None:
        super().__init__()
        weight = torch.tensor([[-1.0, 0.0], [1.0, 0.0]])
        self.layer = nn.Linear(2, 2)
        with torch.no_grad():
            self.layer.weight.copy_(weight.flip(0) if turned else weight)
            ends = torch.tensor([bound, -bound])
            self.layer.bias.copy_(ends.flip(0) if turned else ends)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)


def saved(folder, name, bound, side="", turned=False):
    """A .pt2 file of a half plane, with a side file."""
    path = folder / name
    path.parent.mkdir(exist_ok=True, parents=True)
    module = Half(bound, turned).eval()
    batch = torch.export.Dim("batch", min=1, max=4096)
    torch.export.save(
        torch.export.export(module, (torch.zeros(2, 2),), dynamic_shapes=({0: batch},)), path
    )
    (folder / f"{name}.toml").write_text(f'kind = "table"\nshape = [2]\n{side}')
    return path


def paired(folder, first="old.pt2", second="new.pt2"):
    path = folder / "both.pair"
    assert main(["pair", str(folder / first), str(folder / second), "--out", str(path)]) == 0
    return path


@pytest.fixture
def halves(tmp_path):
    saved(tmp_path, "old.pt2", 0.5)
    saved(tmp_path, "new.pt2", 0.6)
    return paired(tmp_path)


def test_it_is_told_by_its_content_and_says_what_it_is(halves):
    found = identify(halves)
    assert (found.kind, found.model) == (Kind.MODEL, Format.PAIR)
    model = load(halves, device="cpu")
    assert model.labels == ("agree", "disagree") and model.shape == (2,)
    assert "old.pt2 against new.pt2" in model.remarks


def test_it_disagrees_exactly_between_the_two_bounds_and_its_margin_is_the_smaller_one(halves):
    model = load(halves, device="cpu")
    x = torch.rand(5000, 2, generator=torch.Generator().manual_seed(0))
    scores = model.infer(x)
    between = (x[:, 0] > 0.5) & (x[:, 0] < 0.6)
    assert torch.equal(scores.argmax(1) == 1, between)
    first, second = 2 * (x[:, 0] - 0.5), 2 * (x[:, 0] - 0.6)
    expected = torch.maximum(torch.minimum(first, second), torch.minimum(-first, -second))
    assert torch.allclose(scores[:, 0], expected, atol=1e-5)


def test_gradients_lead_to_the_nearest_disagreement(halves):
    model = load(halves, device="cpu")
    x = torch.tensor([[0.3, 0.5]], requires_grad=True)
    model.logits(x)[0, 0].backward()
    assert x.grad[0, 0] < 0 and x.grad[0, 1] == 0


def test_a_sweep_finds_the_share_of_disagreement(halves):
    analysis = find("zonnscan")
    data = from_arrays(np.array([[0.45, 0.5]], np.float32))
    params = analysis.params.parse({"radii": (0.1, 0.2), "samples": 4096})
    assert isinstance(params, ZonnscanParams)
    result = list(analysis.engine(load(halves, device="cpu"), data, params))[-1].result
    # the ball of radius 0.2 spans 0.25 to 0.65 in the first value, of which 0.5 to 0.6 disagree
    assert abs(float(result.crossing[-1]) - 0.25) < 0.03


def test_the_last_particle_measures_how_likely_noise_makes_them_disagree(halves):
    data = from_arrays(np.array([[0.3, 0.5]], np.float32))
    params = LastParticleParams(
        noise="gaussian", eps=0.05, truth="predicted", critical=1e-9, samples=0, attack_steps=0
    )
    result = list(last_particle(load(halves, device="cpu"), data, params))[-1].result
    truth = 3.167e-5  # P(z > 4) - P(z > 6)
    assert result.p_low <= truth <= result.p_high


def test_classes_meet_by_name_and_columns_by_their_units(tmp_path):
    saved(tmp_path, "old.pt2", 0.5, 'labels = ["low", "high"]\nlow = [0.0]\nhigh = [10.0]\n')
    saved(
        tmp_path,
        "new.pt2",
        0.5,
        'labels = ["high", "low"]\nlow = [0.0]\nhigh = [20.0]\n',
        turned=True,
    )
    # both see raw values; the bound of each lies at 0.5 of what it is given in its own units
    model = load(paired(tmp_path), device="cpu")
    assert model.settings.high == (10.0,)
    one, other = (load(tmp_path / name, device="cpu") for name in ("old.pt2", "new.pt2"))
    values = np.random.default_rng(0).random((200, 2)).astype(np.float32) * 10
    seen = one.infer(one.tensor(values / 10)).argmax(1)
    told = other.infer(other.tensor(values / 20)).argmax(1)
    agree = np.array([one.labels[a] == other.labels[b] for a, b in zip(seen, told, strict=True)])
    found = model.infer(model.tensor(values / 10)).argmax(1).numpy() == 0
    assert np.array_equal(found, agree)


def test_another_content_of_either_model_is_another_model(tmp_path):
    saved(tmp_path, "old.pt2", 0.5)
    saved(tmp_path, "new.pt2", 0.6)
    before = load(paired(tmp_path), device="cpu").content
    saved(tmp_path, "new.pt2", 0.7)
    assert load(tmp_path / "both.pair", device="cpu").content != before


def test_what_the_user_has_corrected_wins_over_the_side_files(tmp_path):
    """Also where the correction is the default: mean = 0 beside a side file that says 0.2."""
    paths = saved(tmp_path, "old.pt2", 0.5, "mean = [0.2]\n"), saved(tmp_path, "new.pt2", 0.6)
    models = [load(paths[0], device="cpu", mean=(0.0,)), load(paths[1], device="cpu")]
    write_pair(tmp_path / "both.pair", *paths, [model.settings for model in models])
    x = torch.rand(2000, 2, generator=torch.Generator().manual_seed(0))
    found = load(tmp_path / "both.pair", device="cpu").infer(x).argmax(1) == 1
    assert torch.equal(found, (x[:, 0] > 0.5) & (x[:, 0] < 0.6))


@pytest.mark.parametrize("line", ["trust = true", 'device = "cuda"', 'labels = "names.txt"'])
def test_settings_of_a_pair_say_nothing_but_settings(tmp_path, line):
    saved(tmp_path, "old.pt2", 0.5)
    path = tmp_path / "both.pair"
    names = "first = 'old.pt2'\nsecond = 'old.pt2'\n"
    path.write_text(f"# robgui: two models as one\n{names}[first_settings]\n{line}\n")
    with pytest.raises(ModelError, match=r"settings of old\.pt2"):
        load(path, device="cpu")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"# robgui: two models as one\nfirst = 3\nsecond = 'a'\n", "must name the files"),
        (b"# robgui: two models as one\nfirst = 'old.pt2'\n", "must name the files"),
        (
            b"# robgui: two models as one\nfirst = '../old.pt2'\nsecond = 'x'\n",
            "only a file beside",
        ),
        (
            b"# robgui: two models as one\nfirst = '/etc/passwd'\nsecond = 'x'\n",
            "only a file beside",
        ),
        (b"# robgui: two models as one\nfirst = 'a.pair'\nsecond = 'x'\n", "a pair itself"),
        (b"# robgui: two models as one\n[[[[\n", "cannot be read as a pair"),
        (b"# robgui: two models as one\nfirst = 'none.pt2'\nsecond = 'x'\n", "none.pt2"),
    ],
)
def test_a_pair_that_is_none_is_refused_in_one_sentence(tmp_path, content, said):
    path = tmp_path / "a.pair"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=said) as refusal:
        load(path, device="cpu")
    assert "\n" not in str(refusal.value)


def test_a_model_that_would_run_code_is_refused_even_with_trust(tmp_path):
    saved(tmp_path, "old.pt2", 0.5)
    torch.save(Half(0.5), tmp_path / "new.pth")
    path = tmp_path / "both.pair"
    path.write_text('# robgui: two models as one\nfirst = "old.pt2"\nsecond = "new.pth"\n')
    for trust in (False, True):
        with pytest.raises(ModelError, match="would run code of its own"):
            load(path, device="cpu", trust=trust)


def test_models_of_other_inputs_or_classes_are_no_pair(tmp_path):
    saved(tmp_path, "old.pt2", 0.5)
    path = tmp_path / "three.pt2"
    module = nn.Sequential(nn.Linear(3, 2)).eval()
    torch.export.save(torch.export.export(module, (torch.zeros(2, 3),)), path)
    (tmp_path / "three.pt2.toml").write_text('kind = "table"\nshape = [3]\n')
    with pytest.raises(ModelError, match="different shapes"):
        load(paired(tmp_path, second="three.pt2"), device="cpu")


def test_the_command_refuses_what_is_no_model_and_a_folder_that_does_not_hold_both(
    tmp_path, capsys
):
    saved(tmp_path, "a/old.pt2", 0.5)
    saved(tmp_path, "b/new.pt2", 0.6)
    both = [str(tmp_path / "a" / "old.pt2"), str(tmp_path / "b" / "new.pt2")]
    assert main(["pair", *both, "--out", str(tmp_path / "a" / "x.pair")]) == 2
    assert "a folder that holds both" in capsys.readouterr().err
    assert main(["pair", *both]) == 0
    assert load(tmp_path / "old_against_new.pair", device="cpu").classes == 2
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    assert main(["pair", str(tmp_path / "a.csv"), both[0]]) == 2
    assert "is no model" in capsys.readouterr().err
