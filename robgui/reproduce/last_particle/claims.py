"""The claims of the last particle paper as runs of the table of the analysis.

Section 4.1: Tables 1 to 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from robgui.analyses.last_particle.params import LastParticleTableParams
from robgui.analyses.last_particle.result import LastParticleTableResult
from robgui.analyses.last_particle.table.many_inputs import last_particle_table
from robgui.core.dataset import Dataset
from robgui.core.errors import RobguiError
from robgui.core.model.classifier import Classifier
from robgui.core.text.words import duration, number, percent
from robgui.reproduce.claim import Claim, Drawing, Setting
from robgui.reproduce.last_particle.bench import ParticleBench, open_bench
from robgui.reproduce.last_particle.figures import (
    TABLE_1,
    costs_of,
    is_falling,
    paper_row,
    row_words,
    settings_words,
    shares_of,
    table_params,
    three_shares,
)
from robgui.reproduce.last_particle.hardening import Defence

METHOD = "last-particle"
#: Table 2: validated in per cent and seconds, for 100 and for 1,000 trees.
TABLE_2 = {"forest": ((87.6, 7.38), (90.6, 28.55)), "boosting": ((73.6, 11.9), (78.5, 25.42))}
#: Table 3: certified and validated in per cent.
TABLE_3 = {
    "plain": (73.14, 86.29),
    "adversarial l2": (73.14, 87.0),
    "adversarial linf": (73.57, 96.0),
}
TABLE_3 |= {"noise l2": (72.71, 91.42), "noise linf": (72.71, 91.14)}
# Sizes and norms of Table 3.
DEFENCES = {
    "adversarial l2": Defence("adversarial", "l2", 0.025),
    "adversarial linf": Defence("adversarial", "linf", 0.025),
    "noise l2": Defence("noise", "l2", 0.01),
    "noise linf": Defence("noise", "linf", 0.01),
}
#: "Nearly insensitive" (Section 4.1): the paper's own certified shares change by less than a point.
INSENSITIVE = 0.02


def claims(setting: Setting) -> Iterator[Claim]:
    """Runs every claim, table by table."""
    bench = open_bench(setting)
    setting.say(
        f"last-particle: {bench.what}; {len(bench.test):,} rows kept for testing what is trained"
        " here."
    )
    for classifier, dataset in bench.networks():
        yield from table_1(bench, classifier, dataset)
    for kind in TABLE_2:
        yield from table_2(bench, kind)
    yield from _table_3(bench)


def _run(
    bench: ParticleBench,
    classifier: Classifier,
    dataset: Dataset,
    title: str,
    *,
    plain: bool = False,
) -> LastParticleTableResult:
    """The table of the analysis with the paper's settings: N = 2, t = 40, p_c = 1e-10."""
    return bench.setting.last(
        title, last_particle_table(classifier, dataset, table_params(bench, plain=plain))
    )


def _drawing(
    name: str,
    result: LastParticleTableResult,
    title: str,
    params: LastParticleTableParams,
) -> Drawing:
    return Drawing(name, "last_particle_table", result, title, params=params)


def table_1(bench: ParticleBench, classifier: Classifier, dataset: Dataset) -> Iterator[Claim]:
    """Table 1: shares validated, certified and unharmed in plain samples, at growing noise."""
    name = classifier.name
    statements = (
        f"{name}: validated falls from all inputs at the smallest noise as the noise grows",
        f"{name}: certified <= validated <= clean in plain sampling, at every noise",
        f"{name}: the same as formal bounds up to some noise, apart beyond",
        f"{name}: nothing certified is found failing",
        f"{name}: quicker the larger the noise",
    )
    try:
        result = _run(bench, classifier, dataset, f"Table 1, {name}", plain=True)
        # Table 1 compares with certificates: without them none of its statements can be judged.
        if result.certified_reason:
            raise RobguiError(result.certified_reason)
    except RobguiError as error:
        yield from (Claim(METHOD, statement, "", "", None, str(error)) for statement in statements)
        return
    note = f"{settings_words(bench, result)} The model is {bench.accuracy(classifier, dataset)}."
    certified, validated, clean = shares_of(result)
    slug = f"table-1-{name.casefold().replace(' ', '-')}"
    drawing = (_drawing(slug, result, f"Table 1, {name}", table_params(bench, plain=True)),)
    detail = {
        "radii": result.radii,
        "certified": certified,
        "validated": validated,
        "clean": clean,
        **costs_of(result),
    }
    yield Claim(
        METHOD,
        statements[0],
        paper_row(bench.size.radii),
        row_words(validated),
        is_falling(validated),
        note,
        detail,
        drawing,
    )
    yield _ordered(statements[1], bench, result)
    yield _apart(statements[2], result, validated - certified)
    yield _contradictions(statements[3], result)
    yield _quicker(statements[4], result)


def _ordered(statement: str, bench: ParticleBench, result: LastParticleTableResult) -> Claim:
    certified, validated, clean = shares_of(result)
    holds = bool((certified <= validated).all() and (validated <= clean).all())
    ours = "; ".join(
        f"{r:g}: {three_shares(c, v, m)}"
        for r, c, v, m in zip(result.radii, certified, validated, clean, strict=True)
    )
    paper = "; ".join(
        f"{r:g}: {three_shares(*(share / 100 for share in TABLE_1[r]))}"
        for r in bench.size.radii
        if r in TABLE_1
    )
    note = (
        f"Certified / validated / clean. {result.monte_carlo_samples:,} clean samples prove only a"
        f" failure probability below {number(result.monte_carlo_bound)}."
    )
    return Claim(METHOD, statement, paper, ours, holds, note)


def _quicker(statement: str, result: LastParticleTableResult) -> Claim:
    first, last = float(result.calls[0].mean()), float(result.calls[-1].mean())
    timing = f"{duration(float(result.seconds[0]))} -> {duration(float(result.seconds[-1]))}"
    ours = f"{first:,.0f} -> {last:,.0f} calls per input, {timing}"
    note = "Judged by model calls, which do not depend on the machine."
    return Claim(METHOD, statement, "5.26 s -> 4.0 s for 100 inputs", ours, last < first, note)


def _apart(statement: str, result: LastParticleTableResult, gap: np.ndarray) -> Claim:
    # Within a point, as the paper's Table 1 is up to 0.005.
    same = np.flatnonzero(gap <= 0.01)
    if len(same):
        upto = float(result.radii[same[-1]])
    else:
        upto = 0.0
    split = int(result.false_positives.sum())
    found = int((result.false_positives & result.counterexample).sum())
    note = (
        f"Of {split:,} validated but not certified, a gradient search finds a failure for"
        f" {found:,}; the others are undecided. Both can be right: one speaks of probability, the"
        " other of every input of the ball."
    )
    holds = bool(gap[0] <= 0.01 and gap.max() > 0.01)
    ours = f"within a point up to {upto:g}, at most {percent(float(gap.max()))} apart"
    return Claim(
        METHOD, statement, "within a point up to 0.005, 43 % apart at 0.1", ours, holds, note
    )


def _contradictions(statement: str, result: LastParticleTableResult) -> Claim:
    """A proof and a failure exclude each other.

    Without a proven and decided test there is nothing to judge.
    """
    # Inconclusive tests are left out: they contradict nothing.
    count, decided = _refuted([result])
    note = (
        f"Of the certified tests; {int((result.certified & result.inconclusive).sum()):,} more are"
        " inconclusive and not counted."
    )
    return Claim(
        METHOD,
        statement,
        "none by definition",
        f"{count} of {decided:,}",
        count == 0 if decided else None,
        note,
    )


def _refuted(results: Sequence[LastParticleTableResult]) -> tuple[int, int]:
    """How many certified tests failed, of those that the method decided."""
    decided = sum(
        int((result.certified & result.finished & ~result.inconclusive).sum()) for result in results
    )
    return sum(int(result.contradictions.sum()) for result in results), decided


def table_2(bench: ParticleBench, kind: str) -> Iterator[Claim]:
    """Table 2: ensembles of few trees and of many."""
    (less, quick), (more, slow) = TABLE_2[kind]
    statements = {
        f"{kind}: inputs are validated, with more trees at least as often": f"{less} -> {more} %",
        f"{kind}: the time of a call grows less than the number of trees": (
            f"{slow / quick:.1f} times for 10 times the trees"
        ),
        f"{kind}: nothing certified is found failing": "not done",
    }
    try:
        models = [bench.ensemble(kind, trees) for trees in bench.size.trees]
        found = [_run(bench, model, bench.test, f"Table 2, {model.name}") for model in models]
    except RobguiError as error:
        yield from (
            Claim(METHOD, statement, paper, "", None, str(error))
            for statement, paper in statements.items()
        )
        return
    (first, paper_first), (second, paper_second), (third, paper_third) = statements.items()
    note = (
        f"{settings_words(bench, found[0])} The {models[-1].name} is"
        f" {bench.accuracy(models[-1], bench.test)}."
    )
    yield _validated_trees(first, paper_first, bench.size.trees, found, note, table_params(bench))
    costs = [float(result.seconds.sum()) / max(1, result.model_calls) for result in found]
    growth, factor = costs[-1] / max(costs[0], 1e-12), bench.size.trees[-1] / bench.size.trees[0]
    ours = f"{growth:.1f} times for {factor:g} times the trees"
    note = (
        "Per call, because the number of calls depends on how soon a test ends; the time of this"
        " machine, with whatever else it does."
    )
    yield Claim(
        METHOD, second, paper_second, ours, growth < factor, note, {"seconds_per_call": costs}
    )
    count, decided = _refuted(found)
    note = (
        "Certified by reachable leaves; tests that are inconclusive are not counted, and without a"
        " decided one there is nothing to judge."
    )
    yield Claim(
        METHOD, third, paper_third, f"{count} of {decided:,}", count == 0 if decided else None, note
    )


def _validated_trees(
    statement: str,
    paper: str,
    trees: Sequence[int],
    found: Sequence[LastParticleTableResult],
    note: str,
    params: LastParticleTableParams,
) -> Claim:
    """Judged as printed: shares of nothing do not show that the method validates trees."""
    validated = [float(result.passed.mean()) for result in found]
    certified = [float(result.certified.mean()) for result in found]
    unsure = sum(int(result.inconclusive.sum()) for result in found)
    proven = sum(int((result.inconclusive & result.certified).sum()) for result in found)
    tests = sum(result.validated.size for result in found)
    note = (
        f"Mean over the sizes of noise. {unsure:,} of {tests:,} tests are inconclusive: the score"
        " of trees goes in steps, and one that is constant in the ball cannot be told by a black"
        f" box from one that fails rarely. Reachable leaves prove {proven:,} of these. Certified:"
        f" {', '.join(percent(share) for share in certified)}. {note}"
    )
    ours = ", ".join(f"{n}: {percent(share)}" for n, share in zip(trees, validated, strict=True))
    detail = {
        "trees": list(trees),
        "validated": validated,
        "certified": certified,
        "inconclusive": unsure / tests,
    }
    slug = f"table-2-{statement.split(':', maxsplit=1)[0]}"
    drawing = _drawing(slug, found[-1], f"Table 2, {trees[-1]} trees", params)
    holds = validated[0] > 0 and validated[-1] >= validated[0]
    return Claim(METHOD, statement, paper, ours, holds, note, detail, (drawing,))


def _table_3(bench: ParticleBench) -> Iterator[Claim]:
    plain = bench.network(bench.size.hidden, None, "plain")
    base = _run(bench, plain, bench.test, "Table 3, plain training")
    right = f"Without: {bench.accuracy(plain, bench.test)}"
    certified = {"plain": float(base.certified.mean())}
    for name, defence in DEFENCES.items():
        model = bench.network(bench.size.hidden, defence, name)
        result = _run(bench, model, bench.test, f"Table 3, {name}")
        certified[name] = float(result.certified.mean())
        note = (
            f"{settings_words(bench, result)} {right}; with: {bench.accuracy(model, bench.test)}."
        )
        yield _hardened(name, defence, base, result, note, table_params(bench))
    change = max(abs(share - certified["plain"]) for share in certified.values())
    statement = f"certified shares hardly change by training (at most {percent(INSENSITIVE)})"
    paper = ", ".join(f"{name} {share}" for name, (share, _) in TABLE_3.items()) + " %"
    ours = ", ".join(f"{name} {percent(share)}" for name, share in certified.items())
    note = (
        f"The largest change is {percent(change)}, where one test is"
        f" {percent(1 / base.validated.size)}; one training each."
    )
    yield Claim(
        METHOD, statement, paper, ours, change <= INSENSITIVE, note, {"certified": certified}
    )


def _hardened(
    name: str,
    defence: Defence,
    base: LastParticleTableResult,
    result: LastParticleTableResult,
    note: str,
    params: LastParticleTableParams,
) -> Claim:
    before, after = float(base.passed.mean()), float(result.passed.mean())
    statement = f"training with {name}, eps = {defence.eps:g}: validated more often"
    paper = f"{TABLE_3['plain'][1]} -> {TABLE_3[name][1]} %"
    detail = {"validated": [before, after], "eps": defence.eps, "norm": defence.norm}
    detail |= {"false_positives": [float(each.false_positives.mean()) for each in (base, result)]}
    drawing = _drawing(f"table-3-{name.replace(' ', '-')}", result, f"Table 3, {name}", params)
    ours = f"{percent(before)} -> {percent(after)}"
    share = (
        f"Mean over the sizes of noise; one test is {percent(1 / result.validated.size)}, one"
        " training each."
    )
    return Claim(
        METHOD, statement, paper, ours, after > before, f"{share} {note}", detail, (drawing,)
    )
