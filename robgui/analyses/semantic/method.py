"""The record of the semantic method: everything the program knows about it without computing."""

from pathlib import Path

from robgui.analyses.semantic.domain.params import OperatingDomainParams
from robgui.analyses.semantic.domain.result import OperatingDomainResult
from robgui.analyses.semantic.maps.grid import map_units
from robgui.analyses.semantic.maps.params import MapParams
from robgui.analyses.semantic.params import takes
from robgui.analyses.semantic.regions.params import RegionsParams
from robgui.analyses.semantic.result import MapResult, RegionsResult, Sight, SrvrResult
from robgui.analyses.semantic.volume_ratio.params import TITLE, SrvrParams
from robgui.core.execution.analysis import Analysis, Demo, Shards
from robgui.core.execution.asking.question import Question
from robgui.core.execution.deferred import deferred
from robgui.core.execution.method import Method

_DEMO = ("fashion_cnn.safetensors", "fashion.npz", 6)

MAP = Analysis(
    name="semantic_map",
    title="Semantic map",
    tab="Map",
    question="Over which poses, lights, rotations does the class survive, and where are the traps?",
    engine=deferred("robgui.analyses.semantic.maps.maps:semantic_map"),
    params=MapParams,
    calls=deferred("robgui.analyses.semantic.cost:map_calls"),
    result=MapResult,
    verdict=deferred("robgui.analyses.semantic.maps.words:map_verdict"),
    views=deferred("robgui.analyses.semantic.maps.views:map_views"),
    findings=deferred("robgui.analyses.semantic.maps.findings:map_findings"),
    severity_means=("How far the score falls below that of the poses around it."),
    offers=deferred("robgui.analyses.semantic.maps.findings:map_offers"),
    kinds=frozenset({"image"}),
    several_models=True,
    takes_with=takes,
    shards=Shards(
        map_units,
        deferred("robgui.analyses.semantic.maps.maps:map_part"),
        deferred("robgui.analyses.semantic.maps.maps:merge_maps"),
    ),
    first_look={},
    # A red light that the network sees turn green when it is rotated.
    demo=Demo("traffic_cnn.pt2", "traffic", 150, {"step": {"rotation": 9.0, "scale": 5.0}}),
    invitation=(
        "Over which poses, lights or rotations does the class survive? Choose an input in the "
        "gallery or a mesh below, tick one or two parameters to vary and press Run: the whole "
        "map is there at once and sharpens while it runs."
    ),
    explanation=(
        "Every cell is one picture of the scene, turned, lit or moved as the axes say. Its "
        "colour is the class that the network sees there, strong where it is sure and pale "
        "where it is not. A class has the same colour on every page, that of its name if it is "
        "called after one. A cross in a ring marks a trap: a spot "
        "of low score inside an area of high score, where a small turn of the object makes the "
        "network fail. Move the mouse over the map to see the picture there and the five best "
        "classes. A click makes that place a start for growing regions (Shift+click adds "
        "another one, drawn as a star) and lets you send the picture to the other analyses. "
        "With several networks or shapes choose above the map: each one, the mean of one "
        "network over all shapes (the paper's NSM), or the mean over everything (its DSM), "
        "which shows what the training data left out; a mean shows the score of the class, "
        "most intense where it is low."
    ),
)
REGIONS = Analysis(
    name="semantic_regions",
    title="Semantic regions",
    tab="Regions",
    question="How far around a pose, light or rotation does the class hold?",
    engine=deferred("robgui.analyses.semantic.regions.regions:semantic_regions"),
    params=RegionsParams,
    calls=deferred("robgui.analyses.semantic.cost:regions_calls"),
    result=RegionsResult,
    verdict=deferred("robgui.analyses.semantic.regions.words:regions_verdict"),
    views=deferred("robgui.analyses.semantic.regions.views:regions_views"),
    findings=deferred("robgui.analyses.semantic.regions.findings:regions_findings"),
    severity_means=("How far the score falls below the mean of its region."),
    offers=deferred("robgui.analyses.semantic.regions.findings:regions_offers"),
    kinds=frozenset({"image"}),
    takes_with=takes,
    demo=Demo(*_DEMO),
    invitation=(
        "How far around a pose, light or rotation does the class hold? Choose a scene below, "
        "tick the parameters that may vary and press Run: boxes grow as far as the class "
        "holds, and new poses test what is inside. On the map, or on this picture, a click "
        "chooses where they start."
    ),
    explanation=(
        "Each box is a region of the scene's parameters around a start. A largest box (green) "
        "moved its faces out while new poses kept the class; then poses drawn after it was "
        "fixed had to show, with 95 % confidence, that at most the allowed share of all poses "
        "inside loses the class. With Find = robust regions grow as published, until the score "
        "of the class falls off, which does not make them safe: the share of poses inside that "
        "loses the class stands in the verdict and in the table, with its upper bound. "
        "They grow in three ways side by side: naive (orange), black-box, which compares the "
        "inside with a thin frame around it (blue, the paper's OIR_B), and with gradients, "
        "which follows the slope of the score (green, the paper's OIR_W). Where an axis leads "
        "round, such as an angle, a region across the seam is drawn in two parts. The colours "
        "behind are the score of the class, most intense where it is low. Drag the timeline or "
        "press Play to see the growing again. The pictures are from inside the region chosen in "
        "the table and from just outside of it. With one or more than two parameters every row "
        "is a region or a parameter."
    ),
)
SAFE_SHARE = Analysis(
    name="srvr",
    title=TITLE,
    tab="Safe share",
    question="Over how much of the range does each network keep the class?",
    engine=deferred("robgui.analyses.semantic.volume_ratio.engine:srvr"),
    params=SrvrParams,
    calls=deferred("robgui.analyses.semantic.cost:srvr_calls"),
    result=SrvrResult,
    verdict=deferred("robgui.analyses.semantic.volume_ratio.words:srvr_verdict"),
    views=deferred("robgui.analyses.semantic.volume_ratio.views:srvr_views"),
    findings=deferred("robgui.analyses.semantic.volume_ratio.words:srvr_findings"),
    severity_means=("1 less half the best score of a start."),
    kinds=frozenset({"image"}),
    several_models=True,
    takes_with=takes,
    demo=Demo(*_DEMO),
    invitation=(
        "Which network keeps the class over more of the range? Open several networks of the "
        "same classes, choose an input or name some meshes and press Run: regions grow from the "
        "same starts for each of them, and the mean share of the range that they fill is "
        "compared."
    ),
    explanation=(
        "The bar of a network is the mean share of the whole range of poses, lights or "
        "rotations that its regions fill (the paper's semantic robustness volume ratio, SRVR). "
        "The mean is over shapes, starts and ways to grow, the same for every network; the thin "
        "line is its 95 % interval, and a network is called better only when the difference is "
        "larger than its error. The starts lie where every network sees the class, as far as "
        "there are such poses; a start without the class counts as 0 %. What is "
        "inside the regions is not looked at here. The table counts regions that never grew, "
        "that reached the end of the range, and that were still growing when they were stopped."
    ),
)
DOMAIN = Analysis(
    name="operating_domain",
    title="Operating domain",
    tab="Operating domain",
    question="How rarely is the class lost among all the poses that are to be expected?",
    engine=deferred("robgui.analyses.semantic.domain.engine:operating_domain"),
    params=OperatingDomainParams,
    calls=deferred("robgui.analyses.semantic.cost:domain_calls"),
    result=OperatingDomainResult,
    verdict=deferred("robgui.analyses.semantic.domain.words:domain_verdict"),
    views=deferred("robgui.analyses.semantic.domain.views:domain_views"),
    findings=deferred("robgui.analyses.semantic.domain.words:domain_findings"),
    severity_means=(
        "1 where every tenth pose of the domain fails or more, a tenth less for each power of ten."
    ),
    offers=deferred("robgui.analyses.semantic.domain.words:domain_offers"),
    kinds=frozenset({"image"}),
    takes_with=takes,
    demo=Demo(*_DEMO, guided=False),
    invitation=(
        "How rarely is the class lost among all the poses that you expect? Choose an input, say "
        "how far it may turn, blur or darken, and press Run: poses are drawn as they would come, "
        "then driven towards failure until it is clear how rare that is."
    ),
    explanation=(
        "The domain is all that you expect to happen to this input: each parameter varies within "
        "its range, equally often everywhere or as its distribution says. A dot is one pose as it "
        "came: green where the class is kept, a red cross where it is lost; the diamond is the "
        "worst pose met, by chance, by the test or by search. The bars show along each parameter "
        "which share of the poses is lost. Failures that plain poses never meet are measured by "
        "the last particle: poses climb towards failure round by round, and the more rounds it "
        "takes, the rarer it is. Validated means that the class is lost more rarely than the "
        "critical probability, with the confidence of the settings."
    ),
)
METHOD = Method(
    name="semantic",
    title="Semantic",
    question="Which poses and lights does it survive?",
    analyses=(MAP, REGIONS, SAFE_SHARE, DOMAIN),
    folder=Path(__file__).parent,
    order=20,
    claims="robgui.reproduce.semantic.claims:claims",
    questions=(
        Question("semantic_look", deferred("robgui.analyses.semantic.scene.looking:look"), Sight),
    ),
)
