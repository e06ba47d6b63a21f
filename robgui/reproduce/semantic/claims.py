"""The claims of the semantic robustness paper as runs of the engines.

Sections 1, 4 and 5: Figures 1 to 5, Table 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from robgui.analyses.semantic.maps.maps import semantic_map
from robgui.analyses.semantic.maps.params import MapParams
from robgui.analyses.semantic.regions.params import RegionsParams
from robgui.analyses.semantic.regions.regions import semantic_regions
from robgui.analyses.semantic.result import MapResult, RegionsResult, SrvrResult, network_map
from robgui.analyses.semantic.scene.own_class import IMAGENET_CLASS
from robgui.analyses.semantic.volume_ratio.engine import srvr
from robgui.analyses.semantic.volume_ratio.params import SrvrParams
from robgui.core.errors import DataError
from robgui.core.model.classifier import Classifier
from robgui.core.text.words import number, percent
from robgui.reproduce.claim import Claim, Drawing, Setting, attempt
from robgui.reproduce.semantic.bench import SemanticBench, open_bench
from robgui.reproduce.semantic.order import order_differs
from robgui.reproduce.semantic.region_claims import METHOD, SHARED, region_claims

#: Table 1: SRVR in per cent and top-1 error.
TABLE_1 = {
    "AlexNet": (8.87, 43.45),
    "VGG-11": (9.72, 30.98),
    "ResNet50": (16.79, 23.85),
    "InceptionV3": (7.92, 22.55),
}
#: Figure 1: the score goes "from 100% to almost 0%". The paper gives no bounds; here it has to fall
#: by at least the first, to at most the second.
FALL, LOST = 0.8, 0.1
#: Starts close to the input as it is (rotation in degrees, scale in per cent), so they lie in one
#: region.
NEAR = ((0.0, 100.0), (6.0, 103.0), (-6.0, 103.0), (0.0, 94.0))


def claims(setting: Setting) -> Iterator[Claim]:
    """Runs every claim: on images with a dataset's networks, on meshes with ImageNet's."""
    bench = open_bench(setting)
    if bench.dataset is not None:
        setting.say(
            f"semantic: {len(bench.dataset)} inputs of {bench.dataset.name}, {len(bench.networks)}"
            " networks."
        )
        yield from _image_claims(bench)
    yield from _mesh_claims(bench)


def _image_claims(bench: SemanticBench) -> Iterator[Claim]:
    maps = bench.setting.last(
        "maps over rotation and scale",
        semantic_map(
            bench.networks,
            bench.dataset,
            MapParams(span="whole", step=bench.size.step, seed=bench.setting.seed),
        ),
    )
    yield drop_claim(
        maps,
        "rotation × scale of an input: the score falls from high to almost nothing",
        "maps-images",
    )
    yield traps_claim(maps, "rotation × scale of an input: low spots inside regions of high score")
    yield _attempt_shared(
        maps, "rotation × scale: networks of the same data have their holes in common"
    )
    growing = {
        "begin": "range",
        "span": "whole",
        "start_count": bench.size.starts,
        "iterations": bench.size.iterations,
        "seed": bench.setting.seed,
    }
    # Close starts test "the same boundary"; SRVR below takes starts over the whole range.
    near = RegionsParams(
        mode="robust", span="whole", starts=NEAR[: bench.size.starts], seed=bench.setting.seed
    )
    regions = [_regions(bench, network, near) for network in bench.networks]
    yield from region_claims(regions, "rotation × scale", "regions-image")
    yield _srvr_claim(bench, bench.networks, bench.accuracy, SrvrParams.model_validate(growing))


def _mesh_claims(bench: SemanticBench) -> Iterator[Claim]:
    name = "teapot"
    drop = f"azimuth of the {name}: the score falls from high to almost nothing"
    trap = f"azimuth × elevation of the {name}: low spots inside regions of high score"
    region = f"azimuth × elevation of the {name}"
    last, size = bench.setting.last, bench.size
    target = str(IMAGENET_CLASS[name])

    def looked() -> tuple[Classifier, ...]:
        if not bench.imagenet:
            raise DataError(bench.lacking)
        return bench.imagenet

    def curve() -> Claim:
        params = MapParams(
            scene=(name,), axes=("azimuth",), target=target, step={"azimuth": size.curve}
        )
        return drop_claim(last(drop, semantic_map(looked(), None, params)), drop, "curve-teapot")

    def traps() -> Claim:
        params = MapParams(
            scene=(name,), target=target, step={"azimuth": size.mesh, "elevation": size.mesh}
        )
        return traps_claim(last(trap, semantic_map(looked(), None, params)), trap, "map-teapot")

    yield attempt(METHOD, drop, "1.00 -> 0.00", curve)
    yield attempt(METHOD, trap, "“traps” in Figures 1 and 4", traps)
    if size.regions and bench.imagenet:
        params = RegionsParams(
            mode="robust",
            scene=name,
            target=target,
            start_count=2,
            iterations=120,
            seed=bench.setting.seed,
        )
        yield from region_claims(
            [_regions(bench, network, params) for network in bench.imagenet],
            region,
            "regions-teapot",
        )
    yield _mesh_table(bench)


def _mesh_table(bench: SemanticBench) -> Claim:
    statement = (
        "azimuth × elevation of meshes: the order of networks by SRVR is not that by accuracy"
    )

    def check() -> Claim:
        if len(bench.imagenet) < 2:
            raise DataError(
                "Table 1 compares networks of ImageNet; give two or more with --models."
            )
        params = SrvrParams(
            scene=("teapot",),
            target=str(IMAGENET_CLASS["teapot"]),
            start_count=bench.size.starts,
            begin="range",
            iterations=120,
        )
        return _srvr_claim(bench, bench.imagenet, (), params)

    return attempt(METHOD, statement, _table_words(), check)


def _regions(bench: SemanticBench, network: Classifier, params: RegionsParams) -> RegionsResult:
    if params.scene == "image" and bench.dataset is not None:
        chosen = bench.dataset.subset([0])
    else:
        chosen = None
    return bench.setting.last(
        f"{network.name}: regions of {params.scene}", semantic_regions(network, chosen, params)
    )


def drop_claim(result: MapResult, statement: str, name: str) -> Claim:
    """Figure 1: along the map the score falls from high to nearly 0."""
    # (networks, cells of all shapes).
    flat = result.scores.reshape(len(result.networks), -1)
    highest, lowest = flat.max(1), flat.min(1)
    fallen = (highest - lowest >= FALL) & (lowest <= LOST)
    note = (
        f"{int(fallen.sum())} of {len(flat)} networks on {len(result.shapes)} shapes;"
        f" {result.x.size * result.y.size:,} cells each. Holds when the score of every network"
        f" falls by at least {FALL:g}, to at most {LOST:g}, somewhere on its map."
        f" {_nearest(result)}"
    )
    detail = {
        "highest": highest,
        "lowest": lowest,
        "networks": result.networks,
        "model_calls": result.model_calls,
    }
    ours = f"{highest.min():.2f} -> {lowest.max():.2f}"
    return Claim(
        METHOD,
        statement,
        "1.00 -> 0.00",
        ours,
        bool(fallen.all()),
        note,
        detail,
        (Drawing(name, "semantic_map", result, statement),),
    )


def _nearest(result: MapResult) -> str:
    """How small a change suffices, along the first parameter.

    The paper speaks of a small one and gives no number.
    """
    scores, axis = result.scores, result.axes[0]
    # From the smallest distance up, so the first hit is the smallest change on this grid.
    for apart in range(1, len(result.x)):
        gap = np.abs(scores[..., apart:] - scores[..., :-apart])
        if ((gap >= FALL) & (np.minimum(scores[..., apart:], scores[..., :-apart]) <= LOST)).any():
            return (
                f"The smallest change of the {axis.title.lower()} that does it is"
                f" {number(abs(result.x[apart] - result.x[0]))} {axis.unit}."
            )
    return f"No change of the {axis.title.lower()} alone does it."


def traps_claim(result: MapResult, statement: str, name: str = "") -> Claim:
    """Section 5: adversarial regions that lie inside robust ones."""
    # -1 stands for the mean over networks, whose traps are not a network's own.
    own = result.traps.network >= 0
    count = int(own.sum())
    shapes = len(
        {
            (int(n), int(s))
            for n, s in zip(result.traps.network[own], result.traps.shape[own], strict=True)
        }
    )
    maps = len(result.networks) * len(result.shapes)
    worst = (
        f"; the deepest from {result.traps.wall[own][0]:.2f} to {result.traps.score[own][0]:.2f}"
        if count
        else ""
    )
    usual = MapParams()
    limits = f"a trap is below {usual.trap_floor:g} and all around at least {usual.trap_wall:g}"
    note = f"{shapes} of {maps} maps have one; {limits}{worst}."
    detail = {"traps": count, "maps_with_traps": shapes, "maps": maps}
    figures = (Drawing(name, "semantic_map", result, statement),) if name else ()
    return Claim(
        METHOD,
        statement,
        "“traps” in Figures 1 and 4",
        f"{count} in {maps} maps",
        count > 0,
        note,
        detail,
        figures,
    )


def _attempt_shared(result: MapResult, statement: str) -> Claim:
    """Figure 5: the mean over shapes has low spots that the networks share."""

    def check() -> Claim:
        if len(result.networks) < 2:
            raise DataError("One network has nothing to share; give two or more with --models.")
        maps = [network_map(result, m).ravel() for m in range(len(result.networks))]
        pairs = [float(np.corrcoef(one, other)[0, 1]) for one, other in combinations(maps, 2)]
        note = (
            f"Correlation of the maps of each two networks, means over {len(result.shapes)} shapes;"
            f" holds when all reach {SHARED:g}."
        )
        ours = f"correlation {min(pairs):.2f} to {max(pairs):.2f}"
        return Claim(
            METHOD,
            statement,
            "shared holes in Figure 5",
            ours,
            min(pairs) >= SHARED,
            note,
            {"correlations": pairs},
        )

    return attempt(METHOD, statement, "shared holes in Figure 5", check)


def _srvr_claim(
    bench: SemanticBench,
    networks: tuple[Classifier, ...],
    accuracy: tuple[float, ...],
    params: SrvrParams,
) -> Claim:
    """Table 1: the order of the networks by SRVR is not their order by accuracy."""
    if params.scene == ("image",):
        subject = "rotation × scale of inputs"
    else:
        subject = "azimuth × elevation of meshes"
    statement = f"{subject}: the order of {len(networks)} networks by SRVR is not that by accuracy"

    def check() -> Claim:
        if len(networks) < 2:
            raise DataError(
                "Networks are compared with each other; give two or more with --models."
            )
        result = bench.setting.last(
            statement, srvr(networks, bench.dataset if params.scene == ("image",) else None, params)
        )
        return _srvr_result(statement, result, accuracy, bench.tested)

    return attempt(METHOD, statement, _table_words(), check)


def _srvr_result(
    statement: str, result: SrvrResult, accuracy: tuple[float, ...], tested: int
) -> Claim:
    order = np.argsort(-result.srvr, kind="stable")
    parts = [f"{result.networks[m]} {percent(float(result.srvr[m]))}" for m in order]
    shares = ", ".join(f"{result.networks[m]} {percent(accuracy[m])}" for m in order if accuracy)
    differs, reason = (
        order_differs(result.volume, accuracy, tested, result.networks) if accuracy else (None, "")
    )
    known = (
        f"Accuracy on {tested:,} inputs: {shares}. Holds when a network is more accurate and less"
        f" robust than another one. {reason}"
        if accuracy
        else "Their accuracy is not known here: nothing to compare."
    )
    note = (
        f"{len(result.shapes)} shapes × {len(result.starts)} starts × {len(result.methods)}"
        f" methods; never grew {int(result.never_grew.sum())}, reached the end of the range"
        f" {int(result.hits.sum())}, did not come to rest {int(result.unconverged.sum())} of"
        f" {int(result.regions.sum())}; standard errors"
        f" {', '.join(number(100 * float(result.srvr_error[m])) for m in order)} %. {known}"
    )
    detail = {
        "srvr": result.srvr,
        "error": result.srvr_error,
        "by_method": result.by_method,
        "accuracy": accuracy,
        "networks": result.networks,
    }
    figures = (Drawing("srvr", "srvr", result, statement),)
    return Claim(
        METHOD, statement, _table_words(), ", ".join(parts), differs, note, detail, figures
    )


def _table_words() -> str:
    return ", ".join(f"{name} {share:g} %" for name, (share, _) in TABLE_1.items())
