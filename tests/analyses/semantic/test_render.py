"""The renderer against closed forms, a supersampled render and its own contract."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import avg_pool2d

from robgui.analyses.semantic.scene import visibility
from robgui.analyses.semantic.scene.meshes.mesh import PLAIN, Mesh, make_mesh
from robgui.analyses.semantic.scene.meshes.shapes import bundled
from robgui.analyses.semantic.scene.render import Renderer
from tests.analyses.semantic.drawing import CPU, boxes, view
from tests.guards import no_deviceless_factories

RED, GREEN, BLUE, WHITE = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 1.0, 1.0)
FLAT = {"light": 0.0, "ambient": 1.0}


def square(side: float = 2.0, colours: np.ndarray | None = None, **others: np.ndarray) -> Mesh:
    half = side / 2
    corners = np.array([[-half, -half, 0], [half, -half, 0], [half, half, 0], [-half, half, 0]])
    return make_mesh(
        corners, np.array([[0, 1, 2], [0, 2, 3]]), name="square", colours=colours, **others
    )


@pytest.mark.parametrize("name", ["ellipsoid", "box"])
@pytest.mark.parametrize("which", [0, 1], ids=["azimuth", "elevation"])
def test_gradient_agrees_with_differences_of_a_render_nine_times_as_fine(
    name: str, which: int
) -> None:
    mesh, step = bundled(name), 0.1
    fine, usual = Renderer(mesh, (672, 672), CPU), Renderer(mesh, (224, 224), CPU)
    for place in ([33.0, 25.0], [200.0, 60.0]):
        direction = torch.eye(2)[which]

        def picture(
            t: torch.Tensor, place: list[float] = place, direction: torch.Tensor = direction
        ) -> torch.Tensor:
            return usual(view(*(torch.tensor(place) + t * direction)))

        gradient = torch.autograd.functional.jvp(picture, torch.zeros(()), torch.ones(()))[1]
        with torch.no_grad():
            before, after = (
                avg_pool2d(fine(view(*(torch.tensor(place) + t * direction))), 3)
                for t in (-step, step)
            )
        differences = (after - before) / (2 * step)
        assert (
            torch.corrcoef(torch.stack([gradient.flatten(), differences.flatten()]))[0, 1] >= 0.98
        )
        assert float((gradient * differences).sum() / differences.square().sum()) == pytest.approx(
            1, abs=0.06
        )


def test_gradient_of_light_distance_roll_and_background_agrees_with_differences() -> None:
    renderer = Renderer(bundled("ellipsoid"), (64, 64), CPU)
    weights = torch.rand((1, 3, 64, 64), generator=torch.Generator().manual_seed(1))
    for field, value, step in (
        *(
            ("light_azimuth", 45.0, 0.5),
            ("light_elevation", 40.0, 0.5),
            ("light", 0.4, 0.01),
            ("ambient", 0.3, 0.01),
        ),
        *(("distance", 2.5, 0.02), ("roll", 20.0, 0.5)),
    ):

        def score(t: torch.Tensor, field: str = field) -> torch.Tensor:
            # smooth weights, so that the differences do not jump
            picture = renderer(view(30.0, 20.0, roll=10.0)._replace(**{field: t[None]}))
            return (avg_pool2d(picture, 8) * avg_pool2d(weights, 8)).sum()

        t = torch.tensor(value, requires_grad=True)
        (gradient,) = torch.autograd.grad(score(t), t)
        with torch.no_grad():
            differences = (score(t + step) - score(t - step)) / (2 * step)
        assert float(gradient) == pytest.approx(float(differences), rel=0.08, abs=2e-3), field


def test_area_of_a_square_facing_the_camera_is_exact() -> None:
    picture = (
        Renderer(square(), (200, 200), CPU)(view(0.0, 0.0, distance=3.1234, **FLAT))[0, 0] / PLAIN
    )
    side = 2 * 100 / math.tan(math.radians(30)) / 3.1234
    assert float(picture.sum()) == pytest.approx(side**2, rel=2e-4)
    inner = math.floor(side / 2 - 0.5)
    assert torch.equal(
        picture[100 - inner : 100 + inner, 100 - inner : 100 + inner],
        torch.ones(2 * inner, 2 * inner),
    )
    edge = picture[100, 100 + inner]
    assert 0 <= edge <= 1 and float(picture[100].sum()) == pytest.approx(side, rel=1e-4)


def test_area_of_a_turned_square_is_exact_to_a_tenth_of_a_per_cent() -> None:
    renderer = Renderer(square(), (200, 200), CPU)
    side = 2 * 100 / math.tan(math.radians(30)) / 4
    areas = [
        float(renderer(view(0.0, 0.0, distance=4.0, roll=roll, **FLAT))[0, 0].sum()) / PLAIN
        for roll in (10.0, 30.0, 45.0)
    ]
    assert areas == pytest.approx([side**2] * 3, rel=1e-3)


def test_there_is_no_gap_between_faces_that_share_an_edge() -> None:
    renderer = Renderer(bundled("ellipsoid"), (96, 96), CPU)
    pictures = renderer(
        view(torch.arange(0.0, 360.0, 30.0), 20.0, background=1.0, light=0.0, ambient=0.0)
    )
    inside = (pictures[:, 0] < 0.5).float()
    for rows in (inside, inside.transpose(1, 2)):
        # the outline is convex: no row goes from inside to outside and back
        assert int(((rows[:, :, 1:] - rows[:, :, :-1]).abs().sum(2) > 2).sum()) == 0


def test_depth_order_is_right_on_boxes_that_pass_through_each_other() -> None:
    mesh = boxes(
        ((0, 0, 0), (2, 0.4, 0.4), RED),
        ((0, 0, 0), (0.5, 0.5, 0.3), GREEN),
        ((0, 0, 0), (0.3, 0.3, 1.0), BLUE),
    )
    front, behind, side = Renderer(mesh, (128, 128), CPU)(
        view(torch.tensor([0.0, 180.0, 90.0]), 0.0, **FLAT)
    )
    for picture in (front, behind):
        assert picture[:, 64, 64].tolist() == list(BLUE)  # comes out farthest towards the camera
        assert picture[:, 64, 64 + 20].tolist() == list(RED)
        focal, depth = 64 / math.tan(math.radians(30)), 2.732 - 0.15
        above = 64 - int(0.235 * focal / depth)
        assert picture[:, above, 64].tolist() == list(GREEN)  # out of the red one at its top only
    assert side[:, 64, 64].tolist() == list(RED) and side[:, 64, 64 + 20].tolist() == list(BLUE)


def test_a_crossing_of_two_planes_lies_where_they_cross() -> None:
    wall = np.array([[-1, -1, -0.5], [1, -1, 0.5], [1, 1, 0.5], [-1, 1, -0.5]])
    vertices = np.concatenate([wall, wall * [1, 1, -1]])
    colours = np.repeat([RED, GREEN], 4, axis=0)
    mesh = make_mesh(
        vertices,
        np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]]),
        name="cross",
        colours=colours,
    )
    picture = Renderer(mesh, (101, 101), CPU)(view(0.0, 0.0, **FLAT))[0]
    for colour, columns in ((RED, slice(52, 80)), (GREEN, slice(21, 49))):
        assert torch.allclose(
            picture[:, 50, columns], torch.tensor(colour)[:, None].expand(3, 28), atol=1e-5
        )


def test_both_sides_of_a_surface_are_drawn_and_lit_from_their_own_side() -> None:
    renderer = Renderer(square(), (32, 32), CPU)
    lit = renderer(view(torch.tensor([0.0, 180.0]), 0.0, light_azimuth=0.0, light_elevation=0.0))[
        :, 0, 16, 16
    ]
    assert lit.tolist() == pytest.approx([PLAIN, PLAIN * 0.5])
    turned = make_mesh(square().vertices, square().faces[:, ::-1], name="turned")
    again = Renderer(turned, (32, 32), CPU)(
        view(torch.tensor([0.0, 180.0]), 0.0, light_azimuth=0.0, light_elevation=0.0)
    )
    assert torch.allclose(again[:, 0, 16, 16], lit)


def test_light_on_a_square_is_ambient_plus_the_cosine() -> None:
    renderer = Renderer(square(), (32, 32), CPU)
    for angle in (0.0, 30.0, 60.0, 89.0, 120.0):
        picture = renderer(
            view(0.0, 0.0, light_azimuth=angle, light_elevation=0.0, light=0.6, ambient=0.2)
        )
        expected = PLAIN * (0.2 + 0.6 * max(0.0, math.cos(math.radians(angle))))
        assert float(picture[0, 0, 16, 16]) == pytest.approx(expected, abs=1e-5)


def test_what_is_closer_than_the_near_plane_or_behind_the_camera_is_cut_off() -> None:
    floor = make_mesh(
        np.array([[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1.0]]),
        np.array([[0, 2, 1], [0, 3, 2]]),
        name="floor",
    )
    tilt, distance = 10.0, 0.5  # the camera hangs over the floor, whose near half is behind it
    picture = (
        Renderer(floor, (100, 100), CPU)(view(0.0, tilt, distance=distance, **FLAT))[0, 0] / PLAIN
    )
    e, focal = math.radians(tilt), 50 / math.tan(math.radians(30))
    rows = np.arange(100) + 0.5 - 50
    ray_y, ray_z = -np.sin(e) - np.cos(e) * rows / focal, -np.cos(e) + np.sin(e) * rows / focal
    reach = -distance * np.sin(e) / np.where(ray_y < 0, ray_y, -1e-9)
    z = distance * np.cos(e) + reach * ray_z
    covered = (ray_y < 0) & (z >= -1) & (reach > visibility.NEAR)
    middle = picture[:, 50].numpy()
    edge = np.abs(np.diff(covered.astype(float), append=covered[-1])) + np.abs(
        np.diff(covered.astype(float), prepend=covered[0])
    )
    assert covered.any() and not covered.all()
    assert np.array_equal(middle[edge == 0] > 0.5, covered[edge == 0])


def test_a_camera_inside_a_box_sees_its_walls_everywhere() -> None:
    picture = Renderer(boxes(((0, 0, 0), (2, 2, 2), WHITE)), (64, 64), CPU)(
        view(30.0, 20.0, distance=0.3, **FLAT)
    )
    assert torch.equal(picture, torch.ones(1, 3, 64, 64))


def test_everything_behind_the_camera_gives_the_background() -> None:
    mesh = boxes(((0, 0, 0), (2, 2, 2), WHITE))
    renderer = Renderer(mesh, (16, 16), CPU)
    azimuth = torch.zeros(1, requires_grad=True)
    picture = renderer(view(azimuth, 0.0, distance=-5.0, background=0.25))
    assert torch.equal(picture.detach(), torch.full((1, 3, 16, 16), 0.25))


def test_texture_colours_are_where_they_belong() -> None:
    quarters = np.array([[RED, GREEN], [BLUE, WHITE]], dtype=np.float32).repeat(32, 0).repeat(32, 1)
    uv = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])
    mesh = square(uv=uv, texture=quarters, colours=np.ones((4, 3)))
    picture = Renderer(mesh, (64, 64), CPU)(view(0.0, 0.0, **FLAT))[0]
    places = {(20, 20): RED, (20, 44): GREEN, (44, 20): BLUE, (44, 44): WHITE}
    for (row, column), colour in places.items():
        assert picture[:, row, column].tolist() == pytest.approx(colour, abs=1e-5)


def test_texture_is_perspective_correct() -> None:
    ramp = np.linspace(0.005, 0.995, 200, dtype=np.float32)[None, :, None] * np.ones(
        (200, 1, 3), dtype=np.float32
    )
    mesh = square(
        uv=np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]]), texture=ramp, colours=np.ones((4, 3))
    )
    picture = Renderer(mesh, (201, 201), CPU)(view(60.0, 0.0, **FLAT))[0, 0]
    focal, a = 100.5 / math.tan(math.radians(30)), math.radians(60)
    columns = np.arange(80, 130)
    screen = (columns - 100) / focal
    # a point t along the square lies at t·(cos a) across and 2.732 - t·sin a deep
    along = screen * 2.732 / (math.cos(a) + screen * math.sin(a))
    assert np.allclose(picture[100, 80:130].numpy(), (along + 1) / 2, atol=5e-3)


def test_vertex_colours_are_interpolated() -> None:
    mesh = square(colours=np.array([RED, GREEN, GREEN, RED]))
    picture = Renderer(mesh, (65, 65), CPU)(view(0.0, 0.0, **FLAT))[0]
    assert picture[:, 32, 32].tolist() == pytest.approx([0.5, 0.5, 0.0], abs=0.02)
    assert picture[0, 32, 16] > 0.85 and picture[1, 32, 48] > 0.85


def test_each_picture_is_the_same_whatever_else_is_in_the_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    renderer = Renderer(bundled("teapot"), (64, 64), CPU)
    azimuth, elevation = torch.arange(0.0, 360.0, 24.0), torch.linspace(-10, 90, 15)
    together = renderer(view(azimuth, elevation))
    alone = torch.cat([renderer(view(a, e)) for a, e in zip(azimuth, elevation, strict=True)])
    assert torch.equal(together, alone)
    monkeypatch.setattr("robgui.analyses.semantic.scene.visibility.MOST_SAMPLES", 5000)
    assert torch.equal(renderer(view(azimuth[:3], elevation[:3])), together[:3])


def test_gradients_do_not_change_the_picture() -> None:
    renderer = Renderer(bundled("mug"), (48, 48), CPU)
    azimuth = torch.tensor([20.0, 250.0])
    with torch.no_grad():
        plain = renderer(view(azimuth, 30.0))
    assert torch.equal(renderer(view(azimuth.clone().requires_grad_(), 30.0)).detach(), plain)


def test_every_tensor_is_made_on_the_device_of_the_mesh() -> None:
    renderer = Renderer(bundled("scanned_mug"), (32, 32), CPU)
    views = view(torch.tensor([0.0, 100.0], requires_grad=True), 30.0)
    with no_deviceless_factories():
        renderer(views).sum().backward()
        renderer(views._replace(distance=torch.full((2,), 0.5, device=CPU)))


def test_a_picture_may_be_wide_or_tall() -> None:
    renderer = Renderer(bundled("box"), (40, 72), CPU)
    picture = renderer(view(0.0, 0.0, distance=4.0, **FLAT))[0, 0] > 0.4
    rows, columns = picture.any(1).nonzero(), picture.any(0).nonzero()
    assert float(rows.float().mean()) == pytest.approx(19.5) and float(
        columns.float().mean()
    ) == pytest.approx(35.5)
    upright = (
        Renderer(bundled("box"), (72, 40), CPU)(view(0.0, 0.0, distance=4.0, **FLAT))[0, 0] > 0.4
    )
    assert upright.sum() == picture.sum()
