"""The feature game paper's claims: few pixels, quickly, with and without target, any angle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from robgui import resources
from robgui.analyses.feature_game.batch import feature_game_batch
from robgui.analyses.feature_game.engine import feature_game
from robgui.analyses.feature_game.params import FeatureGameBatchParams, FeatureGameParams
from robgui.analyses.feature_game.result import FeatureGameBatchResult, FeatureGameResult, Outcome
from robgui.core.dataset import Dataset, align, match, open_dataset
from robgui.core.errors import DataError
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier
from robgui.core.text.words import duration, number, percent
from robgui.reproduce.claim import Claim, Drawing, Setting, attempt
from robgui.reproduce.training import train

METHOD = "feature-game"
#: Section 5: mean changed pixels (the paper says dimensions) and seconds per image on traffic
#: lights, any class and green.
TRAFFIC = (4.85, 0.303)
TRAFFIC_GREEN = (3.23, 0.21)
#: The paper's moves set single channels to a bound; these are the two colours of a traffic light.
COLOURS = ("#ff0000", "#00ff00")
#: "Few" pixels: the paper's largest figure on traffic lights, and this share of an image, whichever
#: is more.
FEW = 0.001
#: Table 1: mean L0 on MNIST of the game, and of the attack it says it beats (JSMA-F).
MNIST_GAME, MNIST_JSMA = 14.1, 17.0
#: Figure 3: epsilon of the convergence, and the iterations it takes at most.
EPSILON, ITERATIONS = 0.05, 50


@dataclass(frozen=True, slots=True)
class GameSize:
    """Images and calls per image: on traffic lights, small images, and games of three players."""

    traffic: int = 40
    traffic_calls: int = 1500
    images: int = 30
    calls: int = 5000
    games: int = 6
    epochs: int = 3
    training: int | None = None


FULL = GameSize()
SMALL = GameSize(
    traffic=6, traffic_calls=400, images=5, calls=1200, games=2, epochs=1, training=12_000
)


@dataclass(frozen=True, slots=True)
class GameNetwork:
    """A network and the images it gets right, in random order."""

    name: str
    classifier: Classifier
    dataset: Dataset


def claims(setting: Setting) -> Iterator[Claim]:
    """Runs every claim, traffic lights only where no other data are given."""
    size = SMALL if setting.quick else FULL
    if setting.data is None:
        yield from traffic_claims(setting, size)
    for subject in _subjects(setting, size):
        yield small_images(setting, size, subject)
        played = _games(setting, size, subject)
        yield _convergence(subject, played)
        yield _players(subject, played)
        yield _persistence(subject, played)


def traffic_claims(setting: Setting, size: GameSize) -> Iterator[Claim]:
    """The traffic lights, to any other class and to green."""
    entry = resources.demo()[1]
    classifier = load(entry.models[0])
    dataset = _right(classifier, open_dataset(entry.dataset), setting.seed)
    setting.say(
        f"feature-game: {len(dataset):,} images of {entry.title} that {classifier.name} gets right."
    )
    yield _traffic(setting, size, classifier, dataset, "", TRAFFIC)
    yield _traffic(setting, size, classifier, dataset, "green", TRAFFIC_GREEN)


def _traffic(
    setting: Setting,
    size: GameSize,
    classifier: Classifier,
    dataset: Dataset,
    target: str,
    figures: tuple[float, float],
) -> Claim:
    aim = f"turn every image {target}" if target else "change the class of every image"
    statement = f"traffic lights: a few pixels {aim}"
    paper = f"{figures[0]:g} pixels, {figures[1]:g} s"

    def check() -> Claim:
        chosen = dataset.subset(range(min(size.traffic, len(dataset))))
        params = FeatureGameBatchParams(
            images=0,
            target=target,
            max_calls=size.traffic_calls,
            colours=COLOURS,
            seed=setting.seed,
        )
        result = setting.last(statement, feature_game_batch(classifier, chosen, params))
        few = max(TRAFFIC[0], FEW * classifier.shape[1] * classifier.shape[2])
        claim = _batch_claim(
            statement, paper, result, few, f"traffic{'-' + target if target else ''}"
        )
        return replace(
            claim, note=f"{claim.note} A move paints a pixel black, white, red or green."
        )

    return attempt(METHOD, statement, paper, check)


def _batch_claim(
    statement: str, paper: str, result: FeatureGameBatchResult, most: float, name: str
) -> Claim:
    played = result.played & ~result.skipped
    found = result.found_class >= 0
    if not played.any():
        raise DataError("Every image has the target class already, so there was nothing to play.")
    seconds = float(np.nanmean(result.seconds[played]))
    share = float(found.sum() / played.sum())
    ours = (
        f"{number(round(result.mean, 2))} pixels (median {number(result.median)}),"
        f" {duration(seconds)}"
    )
    note = (
        f"{int(found.sum())} of {int(played.sum())} images changed,"
        f" {number(round(float(result.calls[played].mean())))} model calls each; holds when at"
        f" least 95 % change and the mean is at most {number(round(most, 2))} pixels. The network"
        " and the images are not the paper's."
    )
    detail = {
        "mean": result.mean,
        "median": result.median,
        "found": int(found.sum()),
        "played": int(played.sum()),
        "seconds_per_image": seconds,
        "calls_per_image": float(result.calls[played].mean()),
    }
    drawing = Drawing(f"feature-game-{name}", "feature_game_batch", result, statement)
    return Claim(
        METHOD,
        statement,
        paper,
        ours,
        bool(share >= 0.95 and result.mean <= most),
        note,
        detail,
        (drawing,),
    )


def _subjects(setting: Setting, size: GameSize) -> list[GameNetwork]:
    """The bundled network and clothes, the given ones, or a network trained on given images."""
    if setting.data is None:
        entry = resources.demo()[0]
        dataset, models = open_dataset(entry.dataset), setting.models or (load(entry.models[1]),)
    else:
        dataset, models = open_dataset(setting.data), setting.models or (_trained(setting, size),)
    fitting = [match(model, dataset) for model in models if model.kind == "image"]
    if not fitting:
        raise DataError(
            "The feature game needs a network that takes images; give one with --models."
        )
    return [
        GameNetwork(f"{dataset.name}, {model.name}", model, _right(model, dataset, setting.seed))
        for model in fitting
    ]


def _trained(setting: Setting, size: GameSize) -> Classifier:
    assert setting.data is not None
    images = open_dataset(setting.data, split="train")
    if images.fingerprint == open_dataset(setting.data).fingerprint:
        raise DataError(
            f"{setting.data} has no training images apart from the test images; give models with"
            " --models."
        )
    return setting.last(
        "training of the CNN",
        train("CNN", images, epochs=size.epochs, seed=setting.seed, most=size.training),
    )


def _right(classifier: Classifier, dataset: Dataset, seed: int, most: int = 400) -> Dataset:
    """Images that the classifier gets right, in random order; all of them without labels."""
    aligned = align(classifier, dataset)
    order = np.random.default_rng(seed).permutation(len(aligned))[:most]
    if aligned.labels is None:
        return aligned.subset(order)
    predicted = classifier.infer(aligned.array(order, classifier.shape)).argmax(1).cpu().numpy()
    return aligned.subset(order[predicted == aligned.labels[order]])


def small_images(setting: Setting, size: GameSize, subject: GameNetwork) -> Claim:
    """How few pixels change the class of small images."""
    statement = f"{subject.name}: mean L0 below that of JSMA ({MNIST_JSMA:g} on MNIST)"
    paper = f"{MNIST_GAME:g} pixels (MNIST)"

    def check() -> Claim:
        chosen = subject.dataset.subset(range(min(size.images, len(subject.dataset))))
        params = FeatureGameBatchParams(images=0, max_calls=size.calls, seed=setting.seed)
        result = setting.last(statement, feature_game_batch(subject.classifier, chosen, params))
        return _batch_claim(statement, paper, result, MNIST_JSMA, "small-images")

    return attempt(METHOD, statement, paper, check)


def _games(setting: Setting, size: GameSize, subject: GameNetwork) -> list[FeatureGameResult]:
    """Games of all three players with 1/ε-convergence."""
    params = FeatureGameParams(
        player="all", epsilon=EPSILON, max_calls=size.calls, seed=setting.seed
    )
    count = min(size.games, len(subject.dataset))
    return [
        setting.last(
            f"{subject.name}: game {place + 1} of {count}",
            feature_game(subject.classifier, subject.dataset.subset([place]), params),
        )
        for place in range(count)
    ]


def _convergence(subject: GameNetwork, played: list[FeatureGameResult]) -> Claim:
    statement = (
        f"{subject.name}: the search converges within {ITERATIONS} iterations (ε = {EPSILON:g})"
    )
    iterations = [result.outcomes[0].iterations for result in played]
    settled = [
        bool(outcome.optimal or "iterations" in outcome.ended or "nothing" in outcome.ended)
        for outcome in (r.outcomes[0] for r in played)
    ]
    ended = sorted({result.outcomes[0].ended for result in played})
    note = (
        f"{len(played)} games; {sum(settled)} of them converged before their calls were used up"
        f" ({'; '.join(ended)})."
    )
    drawing = Drawing("feature-game-convergence", "feature_game", played[0], statement)
    ours = f"{min(iterations)} to {max(iterations)} iterations"
    # A search that the calls cut short has not converged, however few its iterations.
    holds = max(iterations) <= ITERATIONS if any(settled) else None
    return Claim(
        METHOD,
        statement,
        "fewer than 50",
        ours,
        holds,
        note,
        {"iterations": iterations, "converged": settled},
        (drawing,),
    )


def _players(subject: GameNetwork, played: list[FeatureGameResult]) -> Claim:
    statement = (
        f"{subject.name}: a cooperative player II gives the lower end of the severity interval"
    )
    rows = np.array([[_severity(outcome) for outcome in result.outcomes] for result in played])
    # A game without an example is as severe as can be.
    told = np.where(np.isnan(rows), np.inf, rows)
    rows = np.where(np.isfinite(rows), rows, np.nan)
    inside = int(((told[:, 1] >= told[:, 0]) & (told[:, 1] <= told[:, 2])).sum())
    means = [
        float(np.nanmean(column)) if np.isfinite(column).any() else float("nan")
        for column in rows.T
    ]
    note = (
        f"{len(played)} images, on each the median of whole games against nature and against an"
        f" adversarial player II; nature lies inside the interval on {inside} of them, which the"
        " paper states but which is true of exact values only. An adversarial player II could not"
        f" prevent the change on {int(np.isfinite(rows[:, 2]).sum())} of them."
    )
    ours = ", ".join(
        f"{player} {number(round(mean, 1))}"
        for player, mean in zip(("cooperative", "nature", "adversarial"), means, strict=True)
    )
    holds = bool((told[:, 0] <= told[:, 1:].min(1)).all())
    return Claim(
        METHOD,
        statement,
        "cooperative <= nature <= adversarial",
        ours,
        holds,
        note,
        {"severities": rows, "nature_inside": inside},
    )


def _severity(outcome: Outcome) -> float:
    """What a search comes down to: fewest pixels if cooperative, else the median of games."""
    if outcome.player == "cooperative":
        return outcome.severity.l0_pixels
    return outcome.quartiles[1]


def _persistence(subject: GameNetwork, played: list[FeatureGameResult]) -> Claim:
    statement = f"{subject.name}: examples still fool the network when turned and scaled"
    paper = "at several angles and scales"
    views = [result.persistence for result in played if result.persistence is not None]
    if not views:
        return Claim(
            METHOD,
            statement,
            paper,
            "",
            None,
            "No example was found to be turned, or the calls did not suffice.",
        )
    turned, resized = (
        np.array(values)
        for values in zip(*((view.rotated_kept, view.scaled_kept) for view in views), strict=True)
    )
    shares = [
        float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")
        for values in (turned, resized)
    ]
    note = (
        f"{len(views)} examples at {len(views[0].angles) - 1} angles up to"
        f" {number(float(views[0].angles.max()))}° and {len(views[0].scales) - 1} scales; only"
        " views count at which the network gets the image itself right. Holds when half of them"
        " fool it."
    )
    ours = f"{percent(shares[0])} of the angles, {percent(shares[1])} of the scales"
    return Claim(
        METHOD,
        statement,
        paper,
        ours,
        bool(min(shares) >= 0.5),
        note,
        {"rotated": turned, "scaled": resized},
    )
