"""Makes every file of the demo: ``python make.py --data FOLDER [fashion] [traffic] [table]``.

FOLDER holds the four gzipped IDX files of Fashion-MNIST. The seeds are fixed: the same machine and
the same versions give the same files (the seconds in measured.json aside). The package robgui must
be importable.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path

import architectures
import files
import numpy as np
import torch
import traffic
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from torch import Tensor, nn

from robgui.core.model.settings import ModelSettings, write_side_file

HERE = Path(__file__).resolve().parent
FASHION = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
TUMOURS = ("benign", "malignant")
SEEDS = {"fashion": 11, "traffic": 12, "table": 13}


def main() -> None:
    """Makes the parts named on the command line, all by default."""
    parts: dict[str, Callable[[Path, Path], dict[str, object]]] = {
        "fashion": fashion,
        "traffic": traffic_lights,
        "table": table,
    }
    parser = argparse.ArgumentParser(description="Makes the files of the demo.")
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="part",
        help=f"what to make: {', '.join(parts)}; everything without it",
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=Path("fashion-mnist"),
        help="folder of the Fashion-MNIST IDX files (.gz)",
    )
    parser.add_argument(
        "--out", type=Path, default=HERE, help="folder to write to; this one without it"
    )
    parser.add_argument(
        "--threads",
        type=int,
        default=1,
        help="threads of torch; another number may change the last digits",
    )
    options = parser.parse_args()
    if unknown := set(options.parts) - set(parts):
        parser.error(
            f"there is no part {', '.join(sorted(unknown))}; choose from {', '.join(parts)}"
        )
    torch.set_num_threads(options.threads)
    torch.use_deterministic_algorithms(True)
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.parts or parts:
        record(options.out / "measured.json", name, parts[name](options.data, options.out))


def fashion(data: Path, out: Path) -> dict[str, object]:
    """Makes a subset of the test images and three trained networks, each in another format."""
    seed = SEEDS["fashion"]
    x, y = (
        read_idx(data / "train-images-idx3-ubyte.gz")[:, None],
        read_idx(data / "train-labels-idx1-ubyte.gz"),
    )
    test_x, test_y = (
        read_idx(data / "t10k-images-idx3-ubyte.gz")[:, None],
        read_idx(data / "t10k-labels-idx1-ubyte.gz"),
    )
    chosen = stratified(test_y, 200, seed)
    np.savez_compressed(
        out / "fashion.npz",
        images=test_x[chosen, 0],
        labels=test_y[chosen].astype(np.int64),
        names=np.array(FASHION),
    )
    mean, std = round(float(x.mean() / 255), 4), round(float((x / np.float32(255)).std()), 4)
    settings = ModelSettings(shape=(1, 28, 28), mean=(mean,), std=(std,), labels=FASHION)
    plans: tuple[
        tuple[str, Callable[[], nn.Module], Callable[[nn.Module, Tensor, Path], None], str, int],
        ...,
    ] = (
        ("fashion_mlp.pt2", architectures.mlp, files.save_export, "", 10),
        (
            "fashion_cnn.safetensors",
            architectures.cnn,
            files.save_weights,
            "architectures.py:cnn",
            8,
        ),
        ("fashion_rnn.pt", architectures.rnn, files.save_script, "", 8),
    )
    models = {}
    for name, factory, save, architecture, epochs in plans:
        start = time.monotonic()
        torch.manual_seed(seed)
        module = factory()
        train(
            module,
            scaled(x, mean, std),
            torch.from_numpy(y).long(),
            epochs=epochs,
            seed=seed,
            mirror=True,
        )
        full = scores(module, scaled(test_x, mean, std)).argmax(1).numpy() == test_y
        save(module, scaled(test_x[:2], mean, std), out / name)
        write_side_file(out / name, settings.change(architecture=architecture))
        models[name] = measured(module, start, test=full, shipped=full[chosen])
    return {"seed": seed, "training": len(x), "models": models}


def traffic_lights(data: Path, out: Path) -> dict[str, object]:
    """Makes street scenes in class folders, and a network trained on other scenes."""
    seed, start = SEEDS["traffic"], time.monotonic()
    shipped_x, shipped_y = write_scenes(out / "traffic", per_class=60, seed=seed)
    x, y = scene_arrays(per_class=1500, seed=seed + 100)
    test_x, test_y = scene_arrays(per_class=400, seed=seed + 200)
    torch.manual_seed(seed)
    module = architectures.traffic()
    train(
        module,
        scaled(x, 0.5, 0.25),
        torch.from_numpy(y),
        epochs=14,
        seed=seed,
        batch=64,
        mirror=True,
    )
    name = "traffic_cnn.pt2"
    files.save_export(module, scaled(x[:2], 0.5, 0.25), out / name)
    write_side_file(
        out / name,
        ModelSettings(
            shape=(3, traffic.SIZE, traffic.SIZE), mean=(0.5,), std=(0.25,), labels=traffic.CLASSES
        ),
    )
    right = [
        scores(module, scaled(a, 0.5, 0.25)).argmax(1).numpy() == b
        for a, b in ((test_x, test_y), (shipped_x, shipped_y))
    ]
    return {
        "seed": seed,
        "training": len(x),
        "models": {name: measured(module, start, test=right[0], shipped=right[1])},
    }


def table(data: Path, out: Path) -> dict[str, object]:
    """The rows of a real table that neither model was trained on, a network and a random forest."""
    seed = SEEDS["table"]
    bunch = load_breast_cancer()
    x, y = (
        bunch.data,
        1 - bunch.target,
    )  # the original has malignant = 0; here the classes are in alphabetical order
    held_out = np.sort(np.concatenate([stratified_fraction(y, c, 0.4, seed) for c in (0, 1)]))
    kept = np.setdiff1d(np.arange(len(y)), held_out)
    features = tuple(str(name) for name in bunch.feature_names)
    write_table(out / "table.csv", features, x[held_out], y[held_out])
    low, high = files.outward(x.min(0), down=True), files.outward(x.max(0), down=False)
    mean, std = (
        tuple(float(f"{v:.6g}") for v in values) for values in (x[kept].mean(0), x[kept].std(0))
    )
    settings = ModelSettings(
        kind="table", shape=(len(features),), low=low, high=high, labels=TUMOURS, features=features
    )
    normal = settings.change(mean=mean, std=std)
    models = {
        "table_mlp.onnx": table_mlp(x, y, kept, held_out, normal, out / "table_mlp.onnx"),
        "table_forest.skops": table_forest(
            x,
            y,
            kept,
            held_out,
            settings.change(output="probabilities"),
            out / "table_forest.skops",
        ),
    }
    return {"seed": seed, "training": len(kept), "models": models}


def table_mlp(
    x: np.ndarray,
    y: np.ndarray,
    kept: np.ndarray,
    held_out: np.ndarray,
    settings: ModelSettings,
    path: Path,
) -> dict[str, object]:
    """Trains the small network on the rows ``kept`` and measures it on the rows ``held_out``."""
    start = time.monotonic()
    torch.manual_seed(SEEDS["table"])
    module = architectures.table(features=x.shape[1])
    raw = torch.from_numpy(
        ((x - np.array(settings.mean)) / np.array(settings.std)).astype(np.float32)
    )
    labels = torch.from_numpy(y).long()
    train(module, raw[kept], labels[kept], epochs=40, seed=SEEDS["table"], batch=32, peak=5e-3)
    files.save_onnx(module, path)
    write_side_file(path, settings)
    right = (scores(module, raw[held_out]).argmax(1) == labels[held_out]).numpy()
    return measured(module, start, test=right, shipped=right)


def table_forest(
    x: np.ndarray,
    y: np.ndarray,
    kept: np.ndarray,
    held_out: np.ndarray,
    settings: ModelSettings,
    path: Path,
) -> dict[str, object]:
    """Grows a small forest on the rows ``kept`` and measures it on the rows ``held_out``."""
    start = time.monotonic()
    forest = RandomForestClassifier(n_estimators=40, max_depth=6, random_state=SEEDS["table"])
    forest.fit(x[kept].astype(np.float32), y[kept])
    files.save_forest(forest, path)
    write_side_file(path, settings)
    right = forest.predict(x[held_out].astype(np.float32)) == y[held_out]
    return measured(None, start, test=right, shipped=right)


def train(
    module: nn.Module,
    x: Tensor,
    y: Tensor,
    *,
    epochs: int,
    seed: int,
    batch: int = 128,
    peak: float = 2e-3,
    mirror: bool = False,
) -> None:
    """Adam with a one-cycle rate; ``mirror`` flips half of the images left to right."""
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(module.parameters(), lr=peak, weight_decay=1e-2)
    batches = -(-len(x) // batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, peak, total_steps=epochs * batches)
    module.train()
    for _ in range(epochs):
        for indices in torch.randperm(len(x), generator=generator).split(batch):
            inputs = x[indices]
            if mirror:
                flips = torch.rand(len(indices), 1, 1, 1, generator=generator) < 0.5
                inputs = torch.where(flips, inputs.flip(3), inputs)
            optimizer.zero_grad()
            nn.functional.cross_entropy(module(inputs), y[indices]).backward()
            nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            optimizer.step()
            schedule.step()
    module.eval()


@torch.inference_mode()
def scores(module: nn.Module, x: Tensor) -> Tensor:
    """Logits ``(n, classes)`` in batches."""
    return torch.cat([module(part) for part in x.split(500)])


def scaled(images: np.ndarray, mean: float, std: float) -> Tensor:
    """Bytes ``(n, c, h, w)`` -> what the network sees."""
    return (torch.from_numpy(np.ascontiguousarray(images)).float() / 255 - mean) / std


def read_idx(path: Path) -> np.ndarray:
    """The bytes of a gzipped IDX file in its shape."""
    content = gzip.decompress(path.read_bytes())
    shape = np.frombuffer(content, ">i4", count=content[3], offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * len(shape)).reshape(shape).copy()


def stratified(labels: np.ndarray, per_class: int, seed: int) -> np.ndarray:
    """Sorted indices of ``per_class`` inputs of every class."""
    rng = np.random.default_rng(seed)
    return np.sort(
        np.concatenate(
            [
                rng.choice(np.flatnonzero(labels == c), per_class, replace=False)
                for c in np.unique(labels)
            ]
        )
    )


def stratified_fraction(labels: np.ndarray, label: int, fraction: float, seed: int) -> np.ndarray:
    """Indices of a ``fraction`` of the inputs with ``label``."""
    members = np.flatnonzero(labels == label)
    return np.random.default_rng((seed, label)).choice(
        members, round(fraction * len(members)), replace=False
    )


def scene_arrays(per_class: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scenes as bytes ``(n, 3, h, w)`` and their labels."""
    images, labels = traffic.scenes(per_class, seed)
    return np.stack([np.asarray(image).transpose(2, 0, 1) for image in images]), labels


def write_scenes(folder: Path, per_class: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Writes scenes into class folders; returns them as ``scene_arrays`` does."""
    images, labels = traffic.scenes(per_class, seed)
    for index, (image, label) in enumerate(zip(images, labels, strict=True)):
        target = (
            folder
            / traffic.CLASSES[label]
            / f"{traffic.CLASSES[label]}_{index // len(traffic.CLASSES):02d}.png"
        )
        target.parent.mkdir(parents=True, exist_ok=True)
        image.save(target, optimize=True)
    return np.stack([np.asarray(image).transpose(2, 0, 1) for image in images]), labels


def write_table(path: Path, features: tuple[str, ...], x: np.ndarray, y: np.ndarray) -> None:
    """A header, then one row per tumour with its class last."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*features, "class"])
        writer.writerows(
            [*(f"{value:.7g}" for value in row), TUMOURS[label]]
            for row, label in zip(x, y, strict=True)
        )


def measured(module: nn.Module | None, start: float, **right: np.ndarray) -> dict[str, object]:
    """What is kept of a trained model: its size, time and share of right answers on each set."""
    size = (
        {}
        if module is None
        else {"parameters": sum(weight.numel() for weight in module.parameters())}
    )
    sets = {
        name: {"inputs": len(answers), "accuracy": round(float(answers.mean()), 4)}
        for name, answers in right.items()
    }
    return {**size, **sets, "seconds": round(time.monotonic() - start, 1)}


def record(path: Path, part: str, values: dict[str, object]) -> None:
    """Replaces one part of measured.json."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(
        json.dumps({**known, part: values}, indent=2, sort_keys=True) + "\n", encoding="utf-8"
    )
    print(json.dumps({part: values}, indent=2))


if __name__ == "__main__":
    main()
