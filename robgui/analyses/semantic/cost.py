"""How many pictures the networks see in each semantic analysis."""

from __future__ import annotations

from math import prod

from robgui.analyses.semantic.domain.params import OperatingDomainParams
from robgui.analyses.semantic.maps.grid import AT_ONCE, axis_values
from robgui.analyses.semantic.maps.params import MapParams
from robgui.analyses.semantic.params import IMAGE, SpaceParams
from robgui.analyses.semantic.regions.box.box_test import needed
from robgui.analyses.semantic.regions.box.largest_box import CLEAN, FIRST_RISK
from robgui.analyses.semantic.regions.lost import CONFIDENCE
from robgui.analyses.semantic.regions.params import GrowParams, RegionsParams, starts_on
from robgui.analyses.semantic.scene.axes import AXES, image_axes, varied
from robgui.analyses.semantic.scene.scene import SceneAxis
from robgui.analyses.semantic.volume_ratio.params import SrvrParams
from robgui.core.execution.budget.cost import Calls, Subject

#: Points of the first look along one axis, on the map of two, and with more axes.
#: 61 points on a line, 25 × 13 on a map, 200 spread over more axes
#: (``regions.scan``), and the usual one.
_LOOKED = {1: 62, 2: 326}
_SPREAD = 201
#: Looks that cut a box before its test, for every axis where the class has a border; and tests:
#: mostly one, now and then three.
_MOST_LOOKS, _MOST_TESTS = 3, 3
#: Seconds for a picture and for each of its values, of a transformed image and of a mesh: the
#: middle of images and meshes of 28 to 224 pixels on one core. Only the estimate rests on them.
_TRANSFORMED, _RENDERED = (5e-5, 1.4e-8), (6e-4, 2.5e-8)


def map_calls(params: MapParams, subject: Subject) -> Calls:
    """Every cell for every network and shape."""
    cells = sum(
        prod(len(axis_values(axis, params)) for axis in _axes(params, spec, subject))
        * (subject.inputs if spec == IMAGE else 1)
        for spec in params.scenes
    )
    most = cells * subject.models + _predicted(params, subject)
    fewest = most
    if params.cells == "borders":
        # Without a border only the coarse grid is computed: every fourth cell along both axes.
        fewest = most // 16
    making = max(_making(spec, subject) for spec in params.scenes)
    return Calls(fewest, most, at_once=AT_ONCE, making=making)


def regions_calls(params: RegionsParams, subject: Subject) -> Calls:
    """The first look, then boxes or regions around every start."""
    n = len(_axes(params, params.scene, subject))
    looked, making = _LOOKED.get(n, _SPREAD), _making(params.scene, subject)
    starts = len(params.starts) or starts_on(params, subject.shape)
    if params.mode != "box":
        fewest, most = _grown(params, n, starts, _differences(params, params.scene, subject))
        inside = params.samples * starts * len(params.methods)
        return Calls(looked + fewest + inside, looked + most + inside, making=making)
    # Boxes that all pass share the risk; in the worst case each has its part of it.
    alone, parted = (
        needed(params.most_lost, FIRST_RISK * (1 - CONFIDENCE) / parts) for parts in (1, starts)
    )
    fewest = CLEAN + alone
    most = _MOST_TESTS * (n * _MOST_LOOKS * CLEAN + parted)
    return Calls(looked + fewest, looked + starts * most, making=making)


def srvr_calls(params: SrvrParams, subject: Subject) -> Calls:
    """Regions around every start of every shape for every network."""
    fewest = most = _predicted(params, subject)
    looks, starts = not params.starts and params.begin == "class", params.starts
    for spec in params.scenes:
        n = len(_axes(params, spec, subject))
        look = _LOOKED.get(n, _SPREAD)
        shapes = subject.models * (subject.inputs if spec == IMAGE else 1)
        begun = (len(starts) or params.start_count) + look * looks
        differences = _differences(params, spec, subject)
        grown = _grown(params, n, len(starts) or params.start_count, differences)
        fewest += shapes * (begun + grown[0])
        most += shapes * (begun + grown[1])
        if spec != IMAGE and not params.target:
            # The class of a mesh whose name is none is the one that the first network sees most.
            most += look
    return Calls(fewest, most, making=max(_making(spec, subject) for spec in params.scenes))


def domain_calls(params: OperatingDomainParams, subject: Subject) -> Calls:
    """Plain poses, the test unless they decide alone, and the search."""
    from robgui.analyses.last_particle.exact import Law

    rounds = Law(params.particles, 1, params.replicas).threshold(params.critical, params.risk)
    fewest = params.samples + params.search
    most = fewest + params.replicas * params.particles + rounds * params.steps
    return Calls(fewest, most, making=_making(params.scene, subject))


def _predicted(params: MapParams | SrvrParams, subject: Subject) -> int:
    """How many images the first network is asked for their class."""
    if params.target:
        return 0
    return subject.inputs * params.scenes.count(IMAGE)


def _making(spec: str, subject: Subject) -> float:
    """Seconds that one picture takes to draw, roughly; every model is drawn its own."""
    if spec == IMAGE:
        fixed, each = _TRANSFORMED
    else:
        fixed, each = _RENDERED
    return fixed + each * subject.values


def _differences(params: GrowParams, spec: str, subject: Subject) -> bool:
    """Whether gradients are differences of scores: of meshes, and without autograd."""
    if params.gradient == "auto":
        return spec != IMAGE or not subject.gradients
    return params.gradient == "differences"


def _grown(params: GrowParams, n: int, starts: int, differences: bool) -> tuple[int, int]:
    """Fewest and most pictures of regions that grow by steps: nodes on the faces of each."""
    if params.preset == "paper":
        nodes = 2**n
    else:
        nodes = 3**n - 1
    # Sets of nodes per step: D alone, D and Q (equation 12), or D with
    # two shifted by the differences.
    boxes = {"naive": 1, "oir_b": 2, "oir_w": 1 + 2 * differences}
    most = starts * nodes * sum(boxes[method] for method in params.methods) * params.iterations
    return most // 4, most


def _axes(params: SpaceParams, spec: str, subject: Subject) -> tuple[SceneAxis, ...]:
    colour, side = subject.shape[0] == 3, min(subject.shape[1:], default=1)
    return varied(image_axes(colour, side) if spec == IMAGE else AXES, params, spec)
