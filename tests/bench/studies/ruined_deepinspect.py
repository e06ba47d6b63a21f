"""Do DeepInspect and the accuracy name the classes that were ruined?

``python -m tests.bench.studies.ruined_deepinspect`` makes a network of forty classes from the demo's own
parts (the clothes in four turns, the convolutions of its network, a new last layer), with as uneven
numbers of inputs as traffic signs have, ruins three classes at a time and prints how often the
headline and the first three findings are these. It asserts nothing.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch
from torch import nn

from robgui import resources
from robgui.core.dataset import Dataset, from_arrays, open_dataset
from robgui.core.execution.registry import find
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier

TURNS = 4
ANALYSES = ("deepinspect", "accuracy")
#: Inputs of the smallest and of the largest class.
FEWEST, MOST = 8, 150


def turned_clothes(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All clothes in four turns with forty classes, and which of them are inspected."""
    data = open_dataset(resources.path("demo", "fashion.npz"))
    x, labels = data.array(range(len(data)), (1, 28, 28)), np.asarray(data.labels)
    images = np.concatenate([np.rot90(x, turn, (2, 3)) for turn in range(TURNS)])
    classes = np.concatenate([labels + 10 * turn for turn in range(TURNS)])
    chosen = []
    for c in range(10 * TURNS):
        places = rng.permutation(np.flatnonzero(classes == c))
        chosen.append(places[: int(np.exp(rng.uniform(np.log(FEWEST), np.log(MOST))))])
    return np.ascontiguousarray(images), classes, np.concatenate(chosen)


def trained(images: np.ndarray, classes: np.ndarray, steps: int) -> nn.Sequential:
    """The convolutions of the demo's network with a last layer for forty classes."""
    module = load(resources.path("demo", "fashion_cnn.safetensors"), device="cpu")
    layers = list(module.backend.module.children())  # type: ignore[attr-defined]
    last = max(place for place, layer in enumerate(layers) if isinstance(layer, nn.Linear))
    trunk = nn.Sequential(*layers[:last])
    with torch.no_grad():
        features = torch.cat([trunk(part) for part in torch.from_numpy(images).float().split(500)])
    torch.manual_seed(0)
    head = nn.Linear(features.shape[1], 10 * TURNS)
    optimiser = torch.optim.Adam(head.parameters(), 0.01)
    truth = torch.from_numpy(classes)
    for _ in range(steps):
        optimiser.zero_grad()
        nn.functional.cross_entropy(head(features), truth).backward()
        optimiser.step()
    return nn.Sequential(*trunk.children(), head)


def ruin(net: nn.Sequential, classes: np.ndarray, how: str) -> None:
    """The last layer forgets these classes, or takes each of them for the next."""
    head = net[-1]
    assert isinstance(head, nn.Linear)
    places, others = classes.tolist(), np.roll(classes, 1).tolist()
    with torch.no_grad():
        if how == "lost":
            head.weight[places], head.bias[places] = 0.0, -20.0
        else:
            head.weight[places] = head.weight[others].clone()
            head.bias[places] = head.bias[others].clone()


def named(net: nn.Sequential, dataset: Dataset, analysis: str) -> tuple[str, list[str]]:
    """The first class in the headline, and those of the first three findings."""
    names = [f"c{c}" for c in range(10 * TURNS)]
    classifier = Classifier.from_module(net, (1, 28, 28), names, output="logits")
    known = find(analysis)
    params = known.params.parse({})
    for step in known.engine(classifier, dataset, params):
        result = step.result
    findings = sorted(known.findings(result, params), key=lambda one: -one.severity)
    headline = known.verdict(result, params).sentence.partition("“")[2].partition("”")[0]
    return headline, [str(finding.detail["class"]) for finding in findings[:3]]


def main() -> None:
    """Prints how often the ruined classes are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    images, classes, chosen = turned_clothes(rng)
    net = trained(images, classes, options.steps)
    keep = {name: value.clone() for name, value in net.state_dict().items()}
    dataset = from_arrays(images[chosen], classes[chosen], kind="image", name="turned clothes")
    sizes = np.bincount(classes[chosen], minlength=10 * TURNS)
    print(f"{len(chosen):,} inputs, {sizes.min()} to {sizes.max()} a class", flush=True)
    for how in ("lost", "exchanged"):
        headlines, firsts = dict.fromkeys(ANALYSES, 0), dict.fromkeys(ANALYSES, 0)
        for _ in range(options.draws):
            net.load_state_dict(keep)
            ruined = rng.choice(10 * TURNS, 3, replace=False)
            ruin(net, ruined, how)
            names = {f"c{c}" for c in ruined}
            for analysis in ANALYSES:
                headline, first = named(net, dataset, analysis)
                headlines[analysis] += headline in names
                firsts[analysis] += set(first) == names
                if headline not in names or set(first) != names:
                    print(
                        f"  {analysis}: ruined {sizes_of(ruined, sizes)}, said {headline}, {first}"
                    )
        for analysis in ANALYSES:
            print(
                f"{how:10} {analysis:12} headline {headlines[analysis]} of {options.draws}, first"
                f" three findings {firsts[analysis]} of {options.draws}",
                flush=True,
            )


def sizes_of(classes: np.ndarray, sizes: np.ndarray) -> str:
    """Classes with the numbers of their inputs."""
    return ", ".join(f"c{c} ({sizes[c]})" for c in classes)


if __name__ == "__main__":
    main()
