"""The contract of an analysis: registry, settings, pace."""

from __future__ import annotations

import time

import pytest
from pydantic import Field

from robgui.core.errors import DataError, ParamsError, Remedy
from robgui.core.execution.params.params import Params
from robgui.core.execution.registry import analyses, find
from robgui.core.execution.step import Pace


class Few(Params):
    samples: int = Field(10, ge=1, le=100)


def test_unknown_settings_are_refused_with_the_list_of_known_ones():
    with pytest.raises(ParamsError, match=r"no setting 'sample'.*samples"):
        Few.parse({"sample": 3})


@pytest.mark.parametrize("value", [0, 101, "x", None, float("nan")])
def test_a_setting_out_of_range_is_one_sentence_with_its_name(value):
    with pytest.raises(ParamsError, match=r"^samples = ") as caught:
        Few.parse({"samples": value})
    assert "\n" not in str(caught.value)


def test_params_cannot_be_changed():
    with pytest.raises(Exception, match="frozen"):
        Few().samples = 3


def test_every_analysis_has_words_for_people_and_described_settings():
    for known in analyses().values():
        assert known.title
        assert known.question.endswith("?")
        for name, field in known.params.model_fields.items():
            assert field.title, f"{known.name}.{name} has no title"
            assert field.description, f"{known.name}.{name} has no description"


def test_dashes_and_underscores_are_the_same_and_a_wrong_name_lists_the_right_ones():
    assert find("zonnscan").name == "zonnscan"
    with pytest.raises(ParamsError, match="zonnscan"):
        find("zonscan")


def test_pace_is_due_at_once_and_then_only_after_its_time():
    pace = Pace(0.05)
    assert pace.due()
    assert not pace.due()
    time.sleep(0.06)
    assert pace.due()
    assert not pace.due()


class _Model:
    """As much of a model as the check needs."""

    name = "box"

    class capabilities:  # noqa: N801 - stands for an attribute
        gradients = False
        reason = "a black box gives outputs only"


def test_what_an_analysis_lacks_with_its_settings_is_said_in_words():
    sweep, corners, sets = (
        find("zonnscan"),
        find("zonnscan_corner_cases"),
        find("zonnscan_populations"),
    )
    box, ball = sweep.params.parse({"zone": "box"}), sweep.params.parse({})
    assert (
        "takes two inputs" in str(short := sweep.shortage(box, [_Model], 1))
        and short.remedy is Remedy.MORE_INPUTS
    )
    assert (
        "takes one input" in str(short := sweep.shortage(ball, [_Model], 2))
        and short.remedy is Remedy.FEWER_INPUTS
    )
    assert sweep.shortage(box, [_Model], 2) is None and sweep.shortage(ball, [_Model], 1) is None
    short = corners.shortage(corners.params.parse({}), [_Model], 9)
    assert "needs two models" in str(short) and short.remedy is Remedy.MORE_MODELS
    assert "a black box gives outputs only" in str(
        sets.shortage(sets.params.parse({}), [_Model], 9)
    )
    assert sets.shortage(sets.params.parse({"against": "rest"}), [_Model], 9) is None


@pytest.mark.parametrize("remedy", Remedy)
def test_window_and_command_line_have_words_for_every_remedy_and_core_has_none(remedy):
    from robgui.cli import how_to_help
    from robgui.gui.state.remedies import error_with_remedy

    error = DataError("Something is missing.", remedy=remedy)
    assert (
        how_to_help(error).strip()
        and error_with_remedy(error).removeprefix("Something is missing.").strip()
    )
    assert "--" not in error_with_remedy(error) and "lick" not in how_to_help(error)
