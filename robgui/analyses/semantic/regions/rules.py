"""The rules of growth: the settings that the steps need, and no others."""

from __future__ import annotations

from dataclasses import dataclass

from robgui.analyses.semantic.params import Preset
from robgui.analyses.semantic.regions.params import PAPER, GrowParams


@dataclass(frozen=True, slots=True)
class Rules:
    """How regions grow; fields as in GrowParams.

    Attributes:
        nodes: Nodes along each axis of a region; 2 are the corners alone.
        autograd: Slopes come as gradients through ``tell``; otherwise differences of scores are
            asked for.
    """

    preset: Preset = "default"
    iterations: int = 200
    eta: float = 0.01
    alpha: float = 0.05
    beta: float = 0.05
    lam: float = 0.1
    epsilon: float = 0.005
    clip: bool = True
    nodes: int = 3
    autograd: bool = False

    @classmethod
    def of(cls, params: GrowParams, autograd: bool = False) -> Rules:
        """The rules that the settings ask for."""
        named = {name: getattr(params, name) for name in ("preset", "clip", *PAPER)}
        # Corners alone, as published, make every region a square;
        # a third node on each side lets it become a rectangle.
        return cls(**named, nodes=2 if params.preset == "paper" else 3, autograd=autograd)
