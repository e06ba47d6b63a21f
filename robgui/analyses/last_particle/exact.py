"""The exact statistics of the last particle: threshold, estimate, interval and power.

With N particles, the lowest of which is killed again and again, the number M of killings at or
below level 0 is Poisson(-N log p); over R independent replicas the sum is Poisson(-R N log p). When
K are killed at once (AMS), the i-th death comes at rate N - (i mod K), so M is the state at time
-log p of a pure birth process with these rates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special, stats

from robgui.analyses.last_particle.result import OUTSIDE

#: Points in time at which the law of a birth process is tabulated for intervals.
_GRID = 256


@dataclass(frozen=True)
class Law:
    """The law of the number of deaths before all particles fail.

    Attributes:
        particles: N.
        kill: K, how many die at once.
        replicas: R, independent runs whose counts are added.
    """

    particles: int
    kill: int = 1
    replicas: int = 1

    def threshold(self, critical: float, risk: float) -> int:
        """The smallest m with P(M >= m) <= ``risk`` if the failure probability is ``critical``.

        Comp_m of Algorithm 1, line 2. Section 3.2 has it as the m for which the quantile of
        Gamma(m, N) at the risk is -log p_c.
        """
        time = -math.log(critical)
        if self.kill == 1:
            # M >= m iff the m-th death comes before -log p, and that time is Gamma(m,
            # rate N): the paper's quantile and this Poisson tail are one condition.
            return _poisson_threshold(self.particles * self.replicas * time, risk)
        tail = self._tail(time)
        # The tail falls with c, so the first place below the risk is the smallest m.
        return int(np.argmax(tail <= risk))

    def power(self, p: np.ndarray | float, m: int) -> np.ndarray:
        """P(M >= m), how often an input is validated, for failure probabilities ``p``."""
        # Time is -log p: particles die at rate N
        # in it, whatever the score (Section 3.1).
        times = -np.log(np.asarray(p, dtype=np.float64))
        if self.kill == 1:
            # P(Poisson(λ) >= m) is the regularised incomplete gamma function of m at λ.
            return np.asarray(special.gammainc(m, self.particles * self.replicas * times))
        return np.array([_at(self._tail(float(time)), m) for time in times.ravel()]).reshape(
            times.shape
        )

    def estimate(self, killed: np.ndarray) -> float:
        """The estimate from the killed ``(R,)`` of each replica: the geometric mean of theirs.

        Algorithm 1, line 9, has (1 - 1/N)^(k - 1), which is unbiased but varies far more. Here:
        exp(-M / N) for the last particle, (1 - K/N)^⌊M / K⌋ (1 - (M mod K)/N) for AMS.
        """
        if self.kill == 1:
            return float(np.exp(-killed.sum() / (self.particles * len(killed))))
        # A whole round leaves (N - K)/N of the mass above its level; one cut short, (N - rest)/N.
        rounds, rest = np.divmod(killed, self.kill)
        logs = rounds * math.log1p(-self.kill / self.particles) + np.log1p(-rest / self.particles)
        return float(np.exp(logs.mean()))

    def interval(
        self, killed: np.ndarray | int, outside: float = OUTSIDE
    ) -> tuple[np.ndarray, np.ndarray]:
        """The exact interval for p from the killed of all replicas together, of any shape."""
        counts = np.asarray(killed, dtype=np.int64)
        if self.kill == 1:
            # M is a Poisson count at time t = -log p with rate N R. The ends solve P(M <= k) and
            # P(M >= k) = outside/2 for t; tails of Poisson counts are incomplete gamma functions.
            rate = self.particles * self.replicas
            longest = special.gammaincinv(counts + 1, 1 - outside / 2) / rate
            # Without a killing there is no upper information: the end is 1, set below.
            shortest = special.gammaincinv(np.maximum(counts, 1), outside / 2) / rate
        else:
            longest, shortest = self._times(counts, outside)
        return np.exp(-longest), np.where(counts == 0, 1.0, np.exp(-shortest))

    def spread(self, mean_killed: float) -> float:
        """Variance of the killed of one replica when their mean is ``mean_killed``."""
        if self.kill == 1 or mean_killed <= 0:
            return max(mean_killed, 0.0)
        # 1/(N - i) is the mean wait for the i-th death of a round, so this is the time a round
        # takes.
        cycle = float(np.sum(1 / (self.particles - np.arange(self.kill))))
        # The time at which the mean is ``mean_killed``, up to the end of a round.
        pmf = birth(self.particles, self.kill, mean_killed * cycle / self.kill)
        states = np.arange(len(pmf))
        mean = float(pmf @ states)
        return float(pmf @ (states - mean) ** 2)

    def _tail(self, time: float) -> np.ndarray:
        """P(M >= c) for c = 0, 1, … at ``time`` = -log p."""
        return _tail_of(birth(self.particles, self.kill, time), self.replicas)

    def _times(self, counts: np.ndarray, outside: float) -> tuple[np.ndarray, np.ndarray]:
        # Generous from the start: tables are expensive.
        most = max(int(counts.max(initial=0)) + 1, 16 * self.kill * self.replicas)
        times, tails = _tabulated(
            self.particles, self.kill, self.replicas, 2 ** math.ceil(math.log2(most + 1))
        )
        longest, shortest = np.empty(counts.shape), np.empty(counts.shape)
        for count in np.unique(counts):
            longest[counts == count] = _solve(times, tails[:, count + 1], 1 - outside / 2)
            if count:
                shortest[counts == count] = _solve(times, tails[:, count], outside / 2)
            else:
                shortest[counts == count] = 0.0
        return longest, shortest


def threshold(
    particles: int, critical: float, risk: float = 0.01, replicas: int = 1, kill: int = 1
) -> int:
    """How many killings validate: the smallest m with P[Poisson(-N R log p_c) >= m] <= risk.

    AMS has its own law.
    """
    return Law(particles, kill, replicas).threshold(critical, risk)


def power(
    p: float | np.ndarray,
    particles: int = 2,
    critical: float = 1e-10,
    risk: float = 0.01,
    replicas: int = 1,
    kill: int = 1,
) -> np.ndarray:
    """How often an input whose failure probability is ``p`` is validated with these settings."""
    law = Law(particles, kill, replicas)
    return law.power(p, law.threshold(critical, risk))


def bound_so_far(killed: int, lines: int, failures: int, samples: int, risk: float) -> float:
    """An upper bound of the failure probability during a test, valid at this risk whenever it ends.

    A test that has killed k of its ``lines`` particles will kill at least k, and the more it kills
    the rarer a failure is: the bound from k holds wherever the test is stopped. Plain samples give
    another bound; each gets half of the risk.

    Args:
        killed: Particles killed so far, over all repetitions.
        lines: Particles of all repetitions together.
        failures: Plain samples that fail.
        samples: Plain samples.
        risk: How often the bound may be too low.
    """
    if killed:
        # The upper end of ``Law.interval`` with risk / 2 on one side.
        tested = math.exp(-special.gammaincinv(killed, risk / 2) / lines)
    else:
        tested = 1.0
    # The smaller of two bounds, each at half the risk (Bonferroni).
    return min(tested, monte_carlo_bound(failures, samples, risk / 2) if samples else 1.0)


def monte_carlo_bound(failures: int, samples: int, risk: float) -> float:
    """The bound that plain samples prove at confidence 1 - ``risk``.

    -log(risk)/k for k clean ones.
    """
    if samples <= 0:
        return float("nan")
    # All k samples pass with probability (1 - p)^k <= exp(-k p);
    # set equal to the risk, solved for p.
    if failures == 0:
        return min(1.0, -math.log(risk) / samples)
    if failures < samples:
        return float(stats.beta.ppf(1 - risk, failures + 1, samples - failures))
    return 1.0


def birth(
    particles: int, kill: int, time: float, start: np.ndarray | None = None, states: int = 0
) -> np.ndarray:
    """Probabilities ``(states,)`` of the number of deaths by ``time``.

    The last state stands for itself and all after it.

    Uniformisation: events at rate N, each a death with probability 1 - (i mod K)/N. Every term is
    positive, so nothing cancels.
    """
    mean = particles * time
    # 12 standard deviations beyond the mean: the rest is far below double precision.
    size = states or int(mean + 12 * math.sqrt(mean) + 2 * kill + 20)
    dies = 1 - (np.arange(size) % kill) / particles
    # The last state absorbs: it stands for itself and all after it.
    dies[-1] = 0
    if start is None:
        state = np.zeros(size)
    else:
        state = start
    if start is None:
        state[0] = 1
    # More events than ten standard deviations beyond
    # the mean weigh nothing in double precision.
    events = np.arange(int(mean + 10 * math.sqrt(mean) + 30))
    total = np.zeros(size)
    # One term per number of events; each event moves every state on with its own probability.
    for weight in stats.poisson.pmf(events, mean):
        total += weight * state
        moved = dies * state
        state = state - moved
        state[1:] += moved[:-1]
    return total


def _poisson_threshold(mean: float, risk: float) -> int:
    """The smallest m >= 1 with P[Poisson(mean) >= m] = gammainc(m, mean) <= risk."""
    # scipy's quantile is a first guess: it may be off by one where the tail equals the risk to
    # rounding.
    m = max(1, int(stats.poisson.isf(risk, mean)) - 2)
    while m > 1 and special.gammainc(m - 1, mean) <= risk:
        m -= 1
    while special.gammainc(m, mean) > risk:
        m += 1
    return m


def _tail_of(pmf: np.ndarray, replicas: int) -> np.ndarray:
    """P(sum of ``replicas`` independent counts >= c)."""
    if replicas > 1:
        # As long as the largest sum: the convolution is circular and would wrap around.
        size = replicas * (len(pmf) - 1) + 1
        # A sum of independent counts is a convolution: a power in the frequency domain.
        pmf = np.clip(np.fft.irfft(np.fft.rfft(pmf, size) ** replicas, size), 0, None)
    # Summed from the far end: small terms come first and keep their digits.
    return np.asarray(np.clip(pmf[::-1].cumsum()[::-1], 0, 1))


@lru_cache(maxsize=16)
def _tabulated(
    particles: int, kill: int, replicas: int, counts: int
) -> tuple[np.ndarray, np.ndarray]:
    """Times ``(g,)`` and P(M >= c) ``(g, counts + 1)``, reaching far enough for all ``counts``."""
    own = counts // replicas + 1
    rates = particles - np.arange(own) % kill
    # Mean and spread of the time until ``own`` deaths, with eight standard deviations to spare.
    last = float(np.sum(1 / rates) + 8 * math.sqrt(np.sum(1.0 / rates**2)) + 8 / particles)
    # The fewer the killed, the shorter the times that matter.
    times = last * np.linspace(0, 1, _GRID) ** 2
    if replicas > 1:
        states = int(particles * last + 10 * math.sqrt(particles * last) + 20)
    else:
        states = counts + 2
    pmf = np.zeros(states)
    pmf[0] = 1
    tails = np.empty((_GRID, counts + 1))
    for i in range(_GRID):
        if i:
            pmf = birth(particles, kill, times[i] - times[i - 1], pmf, states)
        tails[i] = _tail_of(pmf, replicas)[: counts + 1]
    return times, tails


def _solve(times: np.ndarray, tail: np.ndarray, wanted: float) -> float:
    """The time at which the rising ``tail`` reaches ``wanted``.

    It is nearly straight on the normal scale.
    """
    # ndtri is infinite at 0 and at 1.
    scores = special.ndtri(np.clip(tail, 1e-300, 1 - 1e-16))
    return float(np.interp(special.ndtri(wanted), scores, times))


def _at(tail: np.ndarray, m: int) -> float:
    if m < len(tail):
        return float(tail[m])
    return 0.0
