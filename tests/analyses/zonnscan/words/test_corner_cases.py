"""What a search for corner cases says."""

from __future__ import annotations

import numpy as np

from robgui.analyses.zonnscan import CornerCasesParams
from robgui.analyses.zonnscan.words.corner_cases import findings, offers, verdict
from robgui.core.verdict import Status
from tests.analyses.zonnscan.results import compared, disagreed

PARAMS = CornerCasesParams()


def test_every_disagreement_is_a_failure_and_the_labels_say_whose() -> None:
    told = verdict(disagreed(12), PARAMS)
    assert (
        told.status is Status.FAILS
        and told.sentence == "The 2 models disagree on 12 of 300 inputs (4.0 %)."
    )
    assert [one.sentence for one in told.models] == [
        "fashion_mlp.pt2 is wrong on 12 of the 12 labelled inputs the models disagree on.",
        "fashion_rnn.pt is wrong on 1 of the 12 labelled inputs the models disagree on.",
    ]
    assert told.of(1).number.value == 1 / 12


def test_without_labels_nobody_knows_who_is_wrong() -> None:
    told = verdict(disagreed(3, truth=np.full(3, -1)), PARAMS)
    assert told.status is Status.FAILS and all(one.status is Status.UNKNOWN for one in told.models)


def test_models_that_agree_may_be_wrong_together() -> None:
    told = verdict(disagreed(0), PARAMS)
    assert (
        told.status is Status.UNKNOWN and told.sentence == "The 2 models agree on all 300 inputs."
    )
    assert "Models that agree may still be wrong together." in told.because


def test_a_search_under_way_says_how_far_it_is() -> None:
    told = verdict(disagreed(2, looked=256, chosen=2000), PARAMS)
    assert (
        told.sentence == "So far, the 2 models disagree on 2 of 256 inputs (0.8 %)."
        and "256 of 2,000 inputs so far" in told.scope
    )
    first = verdict(disagreed(0, looked=0, chosen=2000), PARAMS)
    assert first.status is Status.UNKNOWN and "have not all seen an input yet" in first.sentence


def test_whether_the_uncertainty_sees_them_stands_in_the_reasons() -> None:
    known = compared(
        [0.1] * 12, [0.6 + 0.01 * i for i in range(12)], names=("agreeing", "corner-case")
    )
    told = verdict(disagreed(12, populations=(known,)), PARAMS)
    assert any(
        "higher around corner-case inputs than around agreeing inputs" in words
        for words in told.because
    )


def test_the_surest_disagreements_are_findings_and_all_are_offered() -> None:
    result = disagreed(30)
    assert (
        len(findings(result, PARAMS)) == 20
        and findings(result, PARAMS)[0].title == "image 0: shirt or coat?"
    )
    (offer,) = offers(result, PARAMS)
    assert len(offer.places) == 30 and offers(disagreed(0), PARAMS) == []
