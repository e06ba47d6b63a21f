"""Results of the last particle: for one input, and for a table of inputs and noise sizes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

#: What a 95 % interval leaves out in total.
OUTSIDE = 0.05


@dataclass(frozen=True, slots=True)
class LastParticleResult:
    """The test of one input with k rounds so far.

    With ``class_wise`` there are several tests; ``killed``, ``levels``, ``acceptance``,
    ``particles`` and ``p_trace`` are those of the class most likely to win wrongly. ``levels``,
    ``acceptance`` and ``particles`` belong to the first replica.

    Attributes:
        validated: The failure probability is below the critical one of the settings, at confidence
            1 - risk, and nothing that was sampled speaks against it.
        inconclusive: Nothing can be said; ``reason`` says why.
        reason: Why the test cannot tell; empty when it can.
        finished: False while the test is still climbing.
        p_estimate: Estimate of the failure probability from everything that was sampled, see
            ``sampling.chance``; when validated by the test alone, its upper end as far as it was
            followed.
        p_low: Lower end of its 95 % interval; 0 when validated by the test alone.
        p_high: Upper end.
        killed: Particles killed at a level at or below 0, over all replicas.
        m: Number of killed that validates.
        levels: ``(k,)`` score that the particles must exceed, round by round; failure begins above
            0.
        acceptance: ``(k,)`` share of accepted moves in each round.
        failure: A failing input ``(*shape)``, None when none was met.
        failure_class: Its class, or -1.
        model_calls: Inputs the model has seen for the test, Monte Carlo and attack not counted.
        mixed: The diagnostics found no sign of particles that do not move freely.
        stuck: Share of new particles none of whose moves was accepted.
        ancestors: Distinct first particles that the present ones descend from, over all replicas of
            the shown test.
        dispersion: Variance of the killed over the replicas, over what it should be; nan with one
            replica.
        dispersion_p: How likely a dispersion this large is by chance; nan with one replica.
        particles: ``(N,)`` present scores of the particles.
        replica_killed: ``(R,)`` killed in each replica of the shown test.
        replica_levels: ``(R, k)`` levels of each replica, nan after its end.
        p_trace: ``(k, 3)`` lower end, estimate and upper end, had the test stopped at each round.
        test_class: ``(T,)`` other class of each test, -1 for all at once.
        test_p: ``(T,)`` estimates of the tests.
        test_killed: ``(T,)`` killed in each test.
        test_validated: ``(T,)`` which of them are validated.
        monte_carlo_samples: Plain samples taken for comparison.
        monte_carlo_failures: How many of them fail.
        monte_carlo_bound: All they prove: the failure probability is below this, at the same
            confidence; nan without samples.
        counterexample: A failing input within the noise found by gradient search ``(*shape)``, None
            without one.
        counterexample_class: Its class, or -1.
        attack_note: Why there was no search, or what it found, in words.
        power_p: ``(q,)`` failure probabilities in falling order from the critical one.
        power: ``(q,)`` how often an input with that failure probability is validated.
        start: Score of the input without noise; negative, as the model gets it right.
        input: ``(*shape)`` the input, in [0, 1].
        input_name: What the dataset calls it.
        label: Its right class.
        labels: Class names.
        kind: image, table or sequence.
        certified: Formal bounds prove that no noise changes the class.
        certified_lower: Proven margin of the score of the right class over every other one; nan
            without bounds.
        certified_reason: Why there are no formal bounds; empty when there are, or not yet.
        eps: Size of the noise: that of the settings, or the one fitted to the data.
        p_source: Where the probability comes from, as ``sampling.chance`` numbers it.
        agree: False where two ways of sampling exclude each other: one has missed a way to fail.
        passed: The test alone validates.
        test_low: ``(T,)`` lower ends of the tests.
        test_high: ``(T,)`` upper ends.
        around_p: The probability by samples around the likeliest failures; nan if there are none or
            too few count.
        around_low: Lower end of its 95 % interval.
        around_high: Upper end.
        around_samples: Samples taken around failures.
        around_effective: How many failing samples of equal weight would tell as much.
        around_found: Gradients led to a failure to sample around.
        around_note: Why nothing was sampled around failures; empty when it was.
        searched: ``(q,)`` classes that were looked for one by one.
        screened: They were looked for by one repetition of the test each, not by gradients.
        hidden: So a failure was met that the test had missed.
        multi_label: The model may give several classes; tested is the one with the highest score.
        leaps: Particles leap along a direction that gradients show (white-box).
    """

    validated: bool
    inconclusive: bool
    reason: str
    finished: bool
    p_estimate: float
    p_low: float
    p_high: float
    killed: int
    m: int
    levels: np.ndarray
    acceptance: np.ndarray
    failure: np.ndarray | None
    failure_class: int
    model_calls: int
    mixed: bool
    stuck: float
    ancestors: int
    dispersion: float
    dispersion_p: float
    particles: np.ndarray
    replica_killed: np.ndarray
    replica_levels: np.ndarray
    p_trace: np.ndarray
    test_class: np.ndarray
    test_p: np.ndarray
    test_killed: np.ndarray
    test_validated: np.ndarray
    monte_carlo_samples: int
    monte_carlo_failures: int
    monte_carlo_bound: float
    counterexample: np.ndarray | None
    counterexample_class: int
    attack_note: str
    power_p: np.ndarray
    power: np.ndarray
    start: float
    input: np.ndarray
    input_name: str
    label: int
    labels: tuple[str, ...]
    kind: str
    certified: bool = False
    certified_lower: float = float("nan")
    certified_reason: str = ""
    eps: float = float("nan")
    p_source: int = 0
    agree: bool = True
    passed: bool = False
    test_low: np.ndarray = field(default_factory=lambda: np.zeros(0))
    test_high: np.ndarray = field(default_factory=lambda: np.zeros(0))
    around_p: float = float("nan")
    around_low: float = float("nan")
    around_high: float = float("nan")
    around_samples: int = 0
    around_effective: float = 0.0
    around_found: bool = False
    around_note: str = ""
    searched: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    screened: bool = False
    hidden: bool = False
    multi_label: bool = False
    leaps: bool = False


@dataclass(frozen=True, slots=True)
class LastParticleTableResult:
    """E sizes of noise times n inputs; arrays ``(E, n)`` unless said otherwise.

    Attributes:
        radii: ``(E,)`` sizes of the noise in rising order.
        validated: Which are validated, and nothing that was sampled speaks against it.
        inconclusive: Which say nothing.
        finished: Which are decided; while running, the others count as neither.
        p_estimate: Estimates of the failure probability from everything that was sampled; nan until
            finished.
        p_low: Lower ends of their 95 % intervals.
        p_high: Upper ends.
        killed: Particles killed at or below 0.
        mixed: Which show no sign of bad mixing.
        calls: Model calls of each test.
        m: Number of killed that validates.
        seconds: ``(E,)`` time of the tests, shared among the sizes by their part of the model
            calls.
        certified: Which have a formal proof that nothing in the ball fails; all False without
            proofs.
        certified_lower: Proven lower bounds of the margin; nan without proofs.
        certified_reason: Why there are no proofs; empty when there are.
        certified_seconds: ``(E,)`` time of the proofs.
        monte_carlo_samples: Plain samples for each input and size.
        monte_carlo_failures: How many of them fail; -1 where not sampled yet.
        monte_carlo_bound: All that no failure proves: the probability is below this, at the same
            confidence; nan without samples.
        monte_carlo_seconds: ``(E,)`` time of the plain samples.
        counterexample: Where the gradient search found a failure within the noise.
        attacked: Where it was searched for.
        attack_note: Why there was no search; empty when there was.
        model_calls: All model calls of the tests.
        left_out: Inputs looked at and left out because the model gets them wrong without noise.
        names: n names of the inputs.
        places: ``(n,)`` their places in the dataset.
        classes: ``(n,)`` their right classes.
        labels: Class names.
        kind: image, table or sequence.
        shown: ``(q, 2)`` size and input of the failures kept for showing, worst first.
        shown_failure: ``(q, *shape)`` these failures.
        shown_input: ``(q, *shape)`` the inputs they belong to.
        shown_class: ``(q,)`` the classes of the failures.
        passed: Which the test alone validates.
        looked: Where gradients have looked for failures hidden behind another class.
        multi_label: The model may give several classes; tested is the one with the highest score.
        leaps: Particles leap along a direction that gradients show (white-box).
    """

    radii: np.ndarray
    validated: np.ndarray
    inconclusive: np.ndarray
    finished: np.ndarray
    p_estimate: np.ndarray
    p_low: np.ndarray
    p_high: np.ndarray
    killed: np.ndarray
    mixed: np.ndarray
    calls: np.ndarray
    m: int
    seconds: np.ndarray
    certified: np.ndarray
    certified_lower: np.ndarray
    certified_reason: str
    certified_seconds: np.ndarray
    monte_carlo_samples: int
    monte_carlo_failures: np.ndarray
    monte_carlo_bound: float
    monte_carlo_seconds: np.ndarray
    counterexample: np.ndarray
    attacked: np.ndarray
    attack_note: str
    model_calls: int
    left_out: int
    names: tuple[str, ...]
    places: np.ndarray
    classes: np.ndarray
    labels: tuple[str, ...]
    kind: str
    shown: np.ndarray
    shown_failure: np.ndarray
    shown_input: np.ndarray
    shown_class: np.ndarray
    passed: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    looked: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    multi_label: bool = False
    leaps: bool = False

    @property
    def false_positives(self) -> np.ndarray:
        """Validated but not certified: the paper's term; the proof may just be too weak."""
        return np.asarray(self.validated & ~self.certified & (not self.certified_reason))

    @property
    def safe(self) -> np.ndarray:
        """Validated by the test, or proven, which is stronger."""
        return np.asarray(self.validated | self.certified)

    @property
    def undecided(self) -> np.ndarray:
        """Neither the test nor a proof says anything."""
        return np.asarray(self.inconclusive & ~self.certified)

    @property
    def contradictions(self) -> np.ndarray:
        """Certified and decided but not validated: there must be none."""
        return np.asarray(self.certified & self.finished & ~self.validated & ~self.inconclusive)
