"""Scenes: the input itself at the usual values, gradients that agree with differences, and what
cannot be opened.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from robgui import resources
from robgui.analyses.semantic.scene.image_scene import OCCLUDER_GREY, ImageScene
from robgui.analyses.semantic.scene.mesh_scene import AXES, LUMINANCE, MeshScene
from robgui.analyses.semantic.scene.meshes.shapes import bundled
from robgui.analyses.semantic.scene.scene import Scene
from robgui.analyses.semantic.scene.scenes import bundled_meshes, open_scene
from robgui.core.dataset import from_arrays, open_dataset
from robgui.core.errors import DataError
from robgui.core.model.classifier import Classifier
from tests.analyses.semantic.drawing import CPU
from tests.guards import no_deviceless_factories


def classifier(*shape: int) -> Classifier:
    return Classifier.from_module(
        nn.Sequential(nn.Flatten(), nn.Linear(math.prod(shape), 3)), shape
    )


def usual(scene: Scene, count: int = 1) -> Tensor:
    return torch.tensor([axis.default for axis in scene.axes]).repeat(count, 1)


def changed(scene: Scene, **values: float) -> Tensor:
    row = usual(scene)
    for name, value in values.items():
        row[0, [axis.name for axis in scene.axes].index(name)] = value
    return row


def smooth_image(channels: int, side: int = 40) -> Tensor:
    y, x = torch.meshgrid(torch.linspace(-2, 2, side), torch.linspace(-2, 2, side), indexing="ij")
    planes = [0.5 + 0.25 * torch.sin(1.3 * x + i) * torch.cos(0.9 * y - i) for i in range(channels)]
    return torch.stack(planes)


def random_image(*shape: int) -> Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(0))


def demo_images() -> list[Tensor]:
    fashion = open_dataset(resources.path("demo", "fashion.npz")).array([3], (1, 28, 28))[0]
    traffic = open_dataset(resources.path("demo", "traffic")).array([0], (3, 112, 112))[0]
    return [
        torch.from_numpy(fashion),
        torch.from_numpy(traffic),
        random_image(3, 17, 30),
        torch.zeros(1, 9, 9),
        torch.ones(3, 9, 9),
    ]


def test_the_usual_values_reproduce_the_input_exactly() -> None:
    for image in demo_images():
        scene = ImageScene(image)
        assert torch.equal(scene.images(usual(scene, 3)), image.expand(3, -1, -1, -1))
        values = usual(scene, 2).requires_grad_()
        assert torch.equal(scene.images(values).detach(), image.expand(2, -1, -1, -1))


def test_a_row_with_changes_does_not_change_the_usual_rows_beside_it() -> None:
    image = random_image(3, 24, 24)
    scene = ImageScene(image)
    values = usual(scene, 2)
    values[0] = torch.tensor([axis.low + 0.3 * (axis.high - axis.low) for axis in scene.axes])
    assert torch.equal(scene.images(values)[1], image)


@pytest.mark.parametrize("channels", [1, 3])
def test_every_axis_of_an_image_changes_it_and_has_a_right_gradient(channels: int) -> None:
    scene = ImageScene(smooth_image(channels))
    weights = smooth_image(channels).flip(2).transpose(1, 2)
    middle = {"occluder_x": 41.3, "occluder_y": 57.7}
    for i, axis in enumerate(scene.axes):
        row = changed(scene, **(middle if axis.name.startswith("occluder") else {}))
        row[0, i] = axis.low + 0.577 * (axis.high - axis.low)
        assert float((scene.images(row) - scene.images(changed(scene))).abs().max()) > 0.01, (
            axis.name
        )

        def score(values: Tensor) -> Tensor:
            return (scene.images(values).double() * weights).sum()

        values = row.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(score(values), values)
        step = torch.zeros_like(row)
        # blurring rounds more than it changes over a short step
        step[0, i] = (2e-2 if axis.name == "blur" else 2e-3) * (axis.high - axis.low)
        differences = (score(row + step) - score(row - step)) / (2 * step[0, i])
        assert float(gradient[0, i]) == pytest.approx(float(differences), rel=0.05, abs=2e-3), (
            axis.name
        )


def test_grey_images_have_neither_saturation_nor_hue() -> None:
    grey, colour = ({axis.name for axis in ImageScene(random_image(c, 8, 8)).axes} for c in (1, 3))
    assert colour - grey == {"saturation", "hue"}


def test_a_quarter_turn_turns_the_image_anticlockwise() -> None:
    image = random_image(1, 12, 12)
    scene = ImageScene(image)
    assert torch.allclose(
        scene.images(changed(scene, rotation=90.0))[0], image.rot90(1, (1, 2)), atol=1e-4
    )


def test_shifts_go_right_and_down_by_their_share() -> None:
    image = random_image(1, 20, 10)
    moved = ImageScene(image).images(changed(ImageScene(image), shift_x=20.0, shift_y=10.0))[0]
    assert torch.allclose(moved[:, 2:, 2:], image[:, :-2, :-2], atol=1e-5)


def test_half_the_scale_halves_the_size() -> None:
    image = torch.zeros(1, 40, 40)
    image[:, 10:30, 10:30] = 1
    small = ImageScene(image).images(changed(ImageScene(image), scale=50.0))[0, 0]
    assert float(small.sum()) == pytest.approx(100, rel=0.02)


def test_blur_is_a_gaussian_of_that_many_pixels() -> None:
    image = torch.zeros(1, 41, 41)
    image[0, 20, 20] = 1
    scene = ImageScene(image)
    blurred = scene.images(changed(scene, blur=2.0))[0, 0]
    place = torch.arange(41) - 20.0
    assert float(blurred.sum()) == pytest.approx(1, abs=1e-4)
    assert float((blurred.sum(0) * place.square()).sum()) == pytest.approx(4, rel=1e-3)
    flat = ImageScene(torch.full((3, 9, 9), 0.3))
    assert torch.allclose(flat.images(changed(flat, blur=0.5)), torch.tensor(0.3), atol=1e-6)


def test_colours_follow_their_definitions() -> None:
    image = 0.3 + 0.4 * random_image(3, 6, 6)
    scene = ImageScene(image)
    assert torch.allclose(scene.images(changed(scene, brightness=10.0))[0], image + 0.1, atol=1e-6)
    assert torch.allclose(
        scene.images(changed(scene, contrast=0.0))[0], image.mean().expand(3, 6, 6), atol=1e-5
    )
    grey = (image * torch.tensor(LUMINANCE)[:, None, None]).sum(0, keepdim=True).expand(3, -1, -1)
    assert torch.allclose(scene.images(changed(scene, saturation=0.0))[0], grey, atol=1e-5)
    # red becomes green
    assert torch.allclose(scene.images(changed(scene, hue=120.0))[0], image.roll(1, 0), atol=1e-5)


def test_noise_is_the_same_for_the_same_seed_and_grows_with_its_level() -> None:
    image = torch.full((1, 64, 64), 0.5)
    same, other = ImageScene(image, seed=3), ImageScene(image, seed=4)
    noisy = same.images(changed(same, noise=5.0))
    assert torch.equal(noisy, ImageScene(image, seed=3).images(changed(same, noise=5.0)))
    assert not torch.equal(noisy, other.images(changed(other, noise=5.0)))
    assert float((noisy - image).std()) == pytest.approx(0.05, rel=0.05)


def test_the_occluder_covers_a_quarter_of_the_side_where_it_stands() -> None:
    scene = ImageScene(torch.zeros(1, 40, 40))
    covered = scene.images(changed(scene, occluder_x=50.0, occluder_y=25.0))[0, 0]
    assert float(covered.sum()) == pytest.approx(100 * OCCLUDER_GREY)
    assert covered[5:15, 15:25].min() == OCCLUDER_GREY


def test_images_are_the_same_whatever_else_is_in_the_batch() -> None:
    scene = ImageScene(random_image(3, 21, 34))
    generator = torch.Generator().manual_seed(1)
    low, high = (
        torch.tensor([getattr(axis, end) for axis in scene.axes]) for end in ("low", "high")
    )
    values = low + (high - low) * torch.rand((9, len(scene.axes)), generator=generator)
    together = scene.images(values)
    assert torch.equal(together, torch.cat([scene.images(values[i : i + 1]) for i in range(9)]))
    assert together.min() >= 0 and together.max() <= 1


def test_a_full_turn_leads_back_on_every_periodic_axis() -> None:
    scenes = [ImageScene(random_image(3, 16, 16)), MeshScene(bundled("mug"), (3, 32, 32), CPU)]
    for scene in scenes:
        for axis in scene.axes:
            if axis.periodic:
                one, other = (
                    scene.images(changed(scene, **{axis.name: end}))
                    for end in (axis.low, axis.high)
                )
                assert torch.allclose(one, other, atol=2e-4), axis.name


def test_every_axis_of_a_mesh_changes_the_picture_and_has_a_gradient() -> None:
    scene = MeshScene(bundled("scanned_mug"), (3, 48, 48), CPU)
    values = usual(scene).requires_grad_()
    weights = random_image(3, 48, 48)
    (gradient,) = torch.autograd.grad((scene.images(values) * weights).sum(), values)
    for i, axis in enumerate(scene.axes):
        other = changed(scene, **{axis.name: axis.low + 0.37 * (axis.high - axis.low)})
        assert float((scene.images(other) - scene.images(usual(scene))).abs().max()) > 0.02, (
            axis.name
        )
        assert float(gradient[0, i]) != 0 and math.isfinite(float(gradient[0, i])), axis.name


def test_axes_of_a_mesh_are_the_papers() -> None:
    axes = {axis.name: axis for axis in AXES}
    assert (axes["azimuth"].low, axes["azimuth"].high, axes["azimuth"].periodic) == (0, 360, True)
    assert (axes["elevation"].low, axes["elevation"].high, axes["elevation"].periodic) == (
        -10,
        90,
        False,
    )
    assert (axes["distance"].default, axes["ambient"].default, axes["light"].default) == (
        2.732,
        50,
        50,
    )
    assert len(axes) == len(AXES) and all(axis.low <= axis.default <= axis.high for axis in AXES)


def test_a_grey_network_gets_the_luminance() -> None:
    colour, grey = (
        MeshScene(bundled("scanned_mug"), (channels, 40, 40), CPU) for channels in (3, 1)
    )
    weighed = (colour.images(usual(colour)) * torch.tensor(LUMINANCE)[:, None, None]).sum(
        1, keepdim=True
    )
    assert torch.allclose(grey.images(usual(grey)), weighed, atol=1e-6)


def test_a_fine_texture_is_averaged_down_to_the_size_of_a_pixel() -> None:
    large, small = (MeshScene(bundled("scanned_mug"), (3, side, side), CPU) for side in (224, 32))
    assert large.images(usual(large)).shape == (1, 3, 224, 224)
    # the same picture, whether pixels or texels are averaged
    averaged = torch.nn.functional.avg_pool2d(large.images(usual(large)), 7)
    assert float((averaged - small.images(usual(small))).abs().mean()) < 0.01


@pytest.mark.parametrize("spec", bundled_meshes())
def test_every_bundled_mesh_opens_and_fills_a_good_part_of_the_picture(spec: str) -> None:
    scene = open_scene(spec, classifier(3, 32, 32))
    picture = scene.images(usual(scene))
    share = float((picture[0].min(0).values < 0.97).float().mean())
    assert scene.name == spec and picture.shape == (1, 3, 32, 32) and 0.03 < share < 0.8


def test_open_scene_takes_the_input_a_name_or_a_file(tmp_path: Path) -> None:
    data = from_arrays(np.random.default_rng(0).random((2, 1, 12, 12), dtype=np.float32))
    scene = open_scene("image", classifier(1, 12, 12), data.subset([1]))
    assert scene.exact_gradient and torch.equal(
        scene.images(usual(scene))[0], torch.from_numpy(data.array([1])[0])
    )
    mesh = open_scene(str(resources.path("meshes", "teapot.ply")), classifier(1, 16, 16), up="y")
    again = open_scene("teapot", classifier(1, 16, 16))
    assert not mesh.exact_gradient and torch.equal(
        mesh.images(usual(mesh)), again.images(usual(again))
    )


@pytest.mark.parametrize(
    ("spec", "shape", "words"),
    [
        ("tea", (3, 16, 16), "no bundled mesh 'tea'"),
        ("missing.obj", (3, 16, 16), "no such mesh file"),
        ("image", (3, 16, 16), "exactly one input, not none"),
        ("teapot", (4,), "takes no images"),
        ("teapot", (2, 16, 16), "grey or colour"),
    ],
)
def test_what_cannot_be_opened_is_said_in_one_sentence(
    spec: str, shape: tuple[int, ...], words: str
) -> None:
    with pytest.raises(DataError, match=words):
        open_scene(spec, classifier(*shape))


def test_an_image_scene_takes_one_input_only() -> None:
    with pytest.raises(DataError, match="exactly one input, not 2"):
        open_scene(
            "image", classifier(1, 4, 4), from_arrays(np.zeros((2, 1, 4, 4), dtype=np.float32))
        )


def test_every_tensor_is_made_on_the_device_of_the_image() -> None:
    image = torch.full((3, 16, 16), 0.5, device=CPU)
    with no_deviceless_factories():
        scene = ImageScene(image)
        values = torch.tensor(
            [[axis.low + 0.4 * (axis.high - axis.low) for axis in scene.axes]],
            device=CPU,
            requires_grad=True,
        )
        scene.images(values).sum().backward()
        mesh = MeshScene(bundled("box"), (1, 16, 16), CPU)
        mesh.images(torch.tensor([[axis.default for axis in mesh.axes]], device=CPU))
