"""Scene: turns semantic parameters into images, differentiably."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class SceneAxis:
    """One semantic parameter of a scene.

    Attributes:
        name: Its name in settings and results: ``azimuth``.
        title: Its name for people: ``Azimuth``.
        unit: ``°``, ``px``, ``%`` or empty.
        low: Smallest value.
        high: Largest value; on a periodic axis the same place as ``low``.
        default: Its value when it is not varied.
        periodic: Whether its ends meet.
    """

    STORED_AS: ClassVar[str] = "Axis"

    name: str
    title: str
    unit: str
    low: float
    high: float
    default: float
    periodic: bool = False


class Scene(Protocol):
    """Makes images from parameters; one interface for meshes and for transformed inputs.

    Attributes:
        name: What to call it.
        axes: Its parameters, in the order of the columns that ``images`` takes.
        exact_gradient: Whether autograd through ``images`` is the better gradient; else central
            differences are.
    """

    name: str
    axes: tuple[SceneAxis, ...]
    exact_gradient: bool

    def images(self, values: Tensor, moved: Sequence[bool] | None = None) -> Tensor:
        """Parameters ``(m, len(axes))`` in their units -> images ``(m, c, h, w)`` in [0, 1].

        On the same device. ``moved`` says for each parameter whether any row has an unusual value;
        without it, a scene that wants to know must wait for the device. Differentiable in
        ``values``; each row is the same whatever ``m`` is.
        """
        ...
