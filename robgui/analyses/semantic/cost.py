"""How many pictures the networks see in each semantic analysis."""

from __future__ import annotations

from math import prod

from robgui.analyses.semantic.domain.params import OperatingDomainParams
from robgui.analyses.semantic.maps.grid import AT_ONCE, axis_values
from robgui.analyses.semantic.maps.params import MapParams
from robgui.analyses.semantic.params import IMAGE, SpaceParams
from robgui.analyses.semantic.regions.box_test import needed
from robgui.analyses.semantic.regions.largest_box import CLEAN, FIRST_RISK
from robgui.analyses.semantic.regions.lost import CONFIDENCE
from robgui.analyses.semantic.regions.params import GrowParams, RegionsParams, starts_on
from robgui.analyses.semantic.scene.axes import AXES, image_axes, varied
from robgui.analyses.semantic.scene.scene import SceneAxis
from robgui.analyses.semantic.volume_ratio.params import SrvrParams
from robgui.core.execution.budget.cost import Calls, Subject

#: Points of the first look along one axis, on the map of two, and with more axes.
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
    most = cells * subject.models + 1
    fewest = most
    if params.cells == "borders":
        fewest = most // 16
    making = max(_making(spec, subject) for spec in params.scenes)
    return Calls(fewest, most, at_once=AT_ONCE, making=making)


def regions_calls(params: RegionsParams, subject: Subject) -> Calls:
    """The first look, then boxes or regions around every start."""
    n = len(_axes(params, params.scene, subject))
    looked, making = _LOOKED.get(n, _SPREAD), _making(params.scene, subject)
    starts = len(params.starts) or starts_on(params, subject.shape)
    if params.mode != "box":
        fewest, most = _grown(params, n, starts)
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
    fewest = most = 0
    for spec in params.scenes:
        n = len(_axes(params, spec, subject))
        shapes = subject.models * (subject.inputs if spec == IMAGE else 1)
        grown = _grown(params, n, len(params.starts) or params.start_count)
        fewest += shapes * (_LOOKED.get(n, _SPREAD) + grown[0])
        most += shapes * (_LOOKED.get(n, _SPREAD) + grown[1])
    return Calls(fewest, most, making=max(_making(spec, subject) for spec in params.scenes))


def domain_calls(params: OperatingDomainParams, subject: Subject) -> Calls:
    """Plain poses, the test unless they decide alone, and the search."""
    from robgui.analyses.last_particle.exact import Law

    rounds = Law(params.particles, 1, params.replicas).threshold(params.critical, params.risk)
    fewest = params.samples + params.search
    most = fewest + params.replicas * params.particles + rounds * params.steps
    return Calls(fewest, most, making=_making(params.scene, subject))


def _making(spec: str, subject: Subject) -> float:
    """Seconds that one picture takes to draw, roughly; every model is drawn its own."""
    if spec == IMAGE:
        fixed, each = _TRANSFORMED
    else:
        fixed, each = _RENDERED
    return fixed + each * subject.values


def _grown(params: GrowParams, n: int, starts: int) -> tuple[int, int]:
    """Fewest and most pictures of regions that grow by steps: nodes on the faces of each."""
    if params.preset == "paper":
        nodes = 2**n
    else:
        nodes = 3**n - 1
    boxes = {"naive": 1, "oir_b": 2, "oir_w": 1 + 2 * (params.gradient == "differences")}
    most = starts * nodes * sum(boxes[method] for method in params.methods) * params.iterations
    return most // 4, most


def _axes(params: SpaceParams, spec: str, subject: Subject) -> tuple[SceneAxis, ...]:
    colour, side = subject.shape[0] == 3, min(subject.shape[1:], default=1)
    return varied(image_axes(colour, side) if spec == IMAGE else AXES, params, spec)
