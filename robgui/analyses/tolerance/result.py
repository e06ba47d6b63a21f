"""Each input's tolerance, bracketed from both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robgui.core.intervals import clopper_pearson


@dataclass(frozen=True, slots=True)
class Broken:
    """An input and the small change that turns it.

    Attributes:
        network: Number of the model.
        row: Its row in the result.
        name: What it is called.
        before: Class of the input.
        after: Class of the changed input.
        size: Largest change of any value.
        picture: ``(h, w, 3)`` uint8, the input.
        changed: The same after the change.
        input: The changed input in [0, 1].
    """

    network: int
    row: int
    name: str
    before: int
    after: int
    size: float
    picture: np.ndarray
    changed: np.ndarray
    input: np.ndarray


#: A failure of noise that is called rare, and below which the last particle validates.
RARE, VALIDATED = 1e-4, 1e-6


@dataclass(frozen=True, slots=True)
class NoiseTolerance:
    """How much uniform noise one input takes.

    Attributes:
        sizes: ``(k,)`` sizes of the noise that were tried.
        samples: ``(k,)`` samples at each.
        failures: ``(k,)`` how many of them had another class.
        validated: The largest size at which the last particle says, 99 % sure for all it tried,
            that noise fails more rarely than ``VALIDATED``; 0 where it has not said so.
    """

    sizes: np.ndarray
    samples: np.ndarray
    failures: np.ndarray
    validated: float = 0.0

    def told(self, chance: float) -> np.ndarray:
        """``(k,)`` whether each size fails more rarely (-1) or more often (1) than ``chance``.

        At 95 % confidence each; 0 where the samples do not tell.
        """
        low, high = clopper_pearson(self.failures, self.samples)
        return np.asarray((low >= chance).astype(np.int64) - (high <= chance))

    def fails(self, chance: float) -> tuple[float, float]:
        """The largest size tried that fails more rarely, and the smallest that fails more often.

        The first lies below all of the second kind. 0 and inf if no sample tells. Nothing is known
        between the sizes.
        """
        told = self.told(chance)
        most = float(self.sizes[told > 0].min(initial=np.inf))
        # A size beyond one that fails often may look rare, as noise of
        # size 1 does; it does not count.
        rarer = self.sizes[(told < 0) & (self.sizes < most)]
        return float(rarer.max(initial=0.0)), most


class Counted(NamedTuple):
    """How many inputs each of several sizes leaves where; together all that were looked at.

    Attributes:
        proven: ``(k,)`` proven to keep their class.
        undecided: ``(k,)`` neither proven nor turned.
        turned: ``(k,)`` a change of at most this size turns them.
        wrong: ``(k,)`` wrong without any change.
    """

    proven: np.ndarray
    undecided: np.ndarray
    turned: np.ndarray
    wrong: np.ndarray


@dataclass(frozen=True, slots=True)
class ToleranceResult:
    """The tolerance of n inputs for m models.

    The largest change of every value that keeps the class.

    Attributes:
        networks: What the models are called.
        places: ``(n,)`` numbers among the inputs of the run.
        names: What they are called.
        proven: ``(m, n)`` no change up to this turns the class; 0 where nothing is proven.
        broken: ``(m, n)`` a change of this size does; inf where the attack found none.
        wrong: ``(m, n)`` the answer is wrong as the input is; its tolerance is 0.
        no_proof: Why a model has no formal bounds, for each; empty where it has.
        no_attack: Why a model cannot be attacked by its gradients, for each; empty where it can.
        labels: Class names of each model.
        dataset: What the data are called.
        total: How many inputs will be looked at.
        available: How many there are.
        examples: The inputs that the smallest changes turn, the smallest first.
        model_calls: Inputs the models have seen; proofs ask none.
        noise: For each model, how much random noise the input takes, where there is only one and
            it is right; empty otherwise, and before it is known.
    """

    networks: tuple[str, ...]
    places: np.ndarray
    names: tuple[str, ...]
    proven: np.ndarray
    broken: np.ndarray
    wrong: np.ndarray
    no_proof: tuple[str, ...]
    no_attack: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    dataset: str
    total: int
    available: int
    examples: tuple[Broken, ...]
    model_calls: int
    noise: tuple[NoiseTolerance, ...] = ()

    @property
    def done(self) -> int:
        """How many inputs were looked at."""
        return int(self.proven.shape[1])

    @property
    def complete(self) -> bool:
        """Whether every input was counted."""
        return self.done >= self.total

    def blank(self, network: int) -> bool:
        """Whether nothing at all is known of a model: no attack was tried, and nothing proven."""
        known = self.proven[network].any() or self.wrong[network].any()
        turned = np.isfinite(self.broken[network]).any()
        return bool(self.no_attack[network]) and not known and not turned

    def counted(self, network: int, sizes: np.ndarray) -> Counted:
        """What becomes of the inputs under changes of every value by up to each size."""
        wrong = self.wrong[network][:, None]
        proven = ((self.proven[network][:, None] >= sizes) & ~wrong).sum(0)
        # At its own size a change turns the class.
        turned = ((self.broken[network][:, None] <= sizes) & ~wrong).sum(0)
        unchanged = np.full(len(sizes), int(wrong.sum()))
        undecided = self.done - proven - turned - unchanged
        return Counted(proven, undecided, turned, unchanged)

    def sure_order(self, first: int, second: int) -> tuple[int, int]:
        """How many inputs surely take more with the first model than the second, and vice versa."""
        # Brackets that overlap may hold the two tolerances in either order.
        more = int((self.proven[first] > self.broken[second]).sum())
        less = int((self.proven[second] > self.broken[first]).sum())
        return more, less
