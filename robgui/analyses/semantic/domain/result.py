"""The result of an operating domain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robgui.analyses.semantic.scene.scene import SceneAxis


@dataclass(frozen=True, slots=True)
class Pose:
    """One place of the domain.

    Attributes:
        at: ``(n,)`` in the units of the axes.
        margin: By how much another class is ahead; above 0 the class is lost.
        seen_as: The class that the network sees.
        image: ``(c, h, w)`` in [0, 1].
    """

    at: np.ndarray
    margin: float
    seen_as: int
    image: np.ndarray


@dataclass(frozen=True, slots=True)
class OperatingDomainResult:
    """How rarely the class is lost in n varied parameters.

    Attributes:
        shape: What the scene is called.
        axes: The parameters with the ranges of the domain.
        distributions: How often each value of each comes, in words.
        target: The class that must stay.
        labels: Class names.
        usual: The pose at rest.
        worst: The pose that is nearest to, or deepest in, another class.
        nearest: Failing poses among the plain samples, those most like the usual pose first.
        points: ``(k, n)`` plain samples so far.
        margins: ``(k,)`` their margins; above 0 the class is lost.
        samples: Plain samples that are wanted.
        validated: The class is lost more rarely than the critical probability, and nothing that
            was sampled speaks against it.
        passed: The test alone says so.
        inconclusive: Nothing can be said.
        reason: Why not.
        finished: The test has ended.
        p: Probability that the class is lost, from everything that was sampled; nan where unknown.
        p_low: Lower end of its 95 % interval.
        p_high: Upper end.
        p_source: Where it comes from, as ``last_particle.sampling.chance`` numbers it.
        killed: Poses left behind by the test.
        m: Number of killed that validates.
        levels: ``(r,)`` margin that the poses of the first repetition must exceed, round by round.
        replica_killed: ``(R,)`` of each repetition.
        searched: The search for the worst pose has ended.
        model_calls: Pictures the network has seen while sampling, testing and searching.
        network: What the network is called.
    """

    shape: str
    axes: tuple[SceneAxis, ...]
    distributions: tuple[str, ...]
    target: int
    labels: tuple[str, ...]
    usual: Pose
    worst: Pose
    nearest: tuple[Pose, ...]
    points: np.ndarray
    margins: np.ndarray
    samples: int
    validated: bool
    passed: bool
    inconclusive: bool
    reason: str
    finished: bool
    p: float
    p_low: float
    p_high: float
    p_source: int
    killed: int
    m: int
    levels: np.ndarray
    replica_killed: np.ndarray
    searched: bool
    model_calls: int
    network: str

    @property
    def lost(self) -> int:
        """Plain samples that lose the class."""
        return int((self.margins > 0).sum())
