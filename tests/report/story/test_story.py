from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from robgui.core.errors import RobguiError
from robgui.core.execution.request import Reference, Request
from robgui.core.execution.run import RunState
from robgui.core.execution.step import Step
from robgui.core.finding import Finding
from robgui.core.finding_pair import picture_of_two
from robgui.core.verdict import Quantity, Status, Verdict
from robgui.report.story import Right, read_edits, story_of, write_edits
from robgui.report.story.files import frames_of, write_story
from robgui.report.story.painting import PICTURE, SlideArea, exhibit, fitted
from robgui.report.story.sentences import large_words
from robgui.report.story.words import Words
from tests.report.small import EVIL, model, run


def flipped(title="x.png: 2 pixels turn “red” into “green”", severity=0.9):
    before = np.full((40, 40, 3), 90, np.uint8)
    after = before.copy()
    after[5, 6] = after[6, 8] = 255
    big = [one.repeat(4, 0).repeat(4, 1) for one in (before, after)]
    picture = np.concatenate([big[0], np.full((160, 8, 3), 255, np.uint8), big[1]], axis=1)
    x = (after.transpose(2, 0, 1) / 255).astype(np.float32)
    detail = {"class": "red", "other_class": "green", "confidence_before": 0.97}
    return Finding("adversarial", title, severity, detail, picture, x)


@pytest.fixture
def told(workspace):
    """A run that fails, with a pair among its findings."""
    made = run(workspace, says="fails")
    workspace.add_findings(made.id, [flipped()])
    return made


def right(made, share=0.989):
    return Right(made.request.models[0].fingerprint, "traffic", share, 180)


def test_an_empty_workspace_has_no_story(workspace):
    assert story_of(workspace) == []
    with pytest.raises(RobguiError, match="nothing to tell"):
        write_story([], workspace.path.with_suffix(".pdf"), title="t")


def test_the_story_says_how_often_it_is_right_what_makes_it_fail_and_what_to_do(workspace, told):
    start, first, end = story_of(workspace, right(told))
    assert start.title == "net is right on 98.9 % of 180 inputs" and start.number == "98.9 %"
    assert first.title == "Yet 2 pixels turn “red” into “green”"
    assert first.text == "Before: “red”, 97.0 % sure.\nAfter: “green”."
    assert first.pair is not None and first.status is Status.FAILS and "x.png" in first.subject
    assert end.title == "What to do" and "2 findings in all" in end.subject
    assert end.pictures and (end.pictures[1] == first.pair.after).all(), "what failed is seen again"
    shown = exhibit(end)
    assert shown is not None and shown.shape[1] == 900


def test_a_title_that_asks_which_class_it_is_becomes_a_sentence(workspace):
    made = run(workspace, says="fails")
    workspace.add_findings(made.id, [Finding("corner case", "x.png: Shirt or Coat?", 0.9)])
    assert story_of(workspace)[1].title == "Models disagree on this input: Shirt or Coat?"
    title = "“Trouser” by its label, “Dress” to the model, 97 % sure"
    workspace.add_findings(made.id, [Finding("wrong", title, 0.95)])
    assert story_of(workspace, right(made))[1].title == f"Yet an input is {title}"


def test_a_slide_contradicts_only_what_the_one_before_it_claims(workspace, told):
    start, first, _ = story_of(workspace)
    assert start.title == "How robust is net?" and not start.number, "no accuracy is known"
    assert first.title == "2 pixels turn “red” into “green”"
    assert start.text.endswith(" was asked. Its gravest answers follow.")


def test_or_joins_two_changes_and_nothing_else(workspace, told):
    workspace.add_findings(told.id, [flipped("y.png: 3 pixels turn “red” into “green”", 0.8)])
    workspace.add_findings(told.id, [Finding("wrong", "z.png: red or green?", 0.7)])
    for finding in workspace.findings():
        if finding.title.count(": "):
            workspace.set_finding(finding.id, starred=True)
    titles = [slide.title for slide in story_of(workspace, right(told))[1:-1]]
    assert titles == [
        "Yet 2 pixels turn “red” into “green”",
        "Or 3 pixels turn “red” into “green”",
        "Models disagree on this input: red or green?",
    ]


def test_a_story_without_findings_does_not_speak_of_failing_inputs(workspace):
    run(workspace, says="holds")
    end = story_of(workspace)[-1]
    assert "no proof" in end.text and "failing inputs" not in end.text


def test_drawings_take_the_ground_of_a_dark_slide_and_images_do_not(workspace, told):
    drawing = np.full((80, 80, 3), 255, np.uint8)
    drawing[40:, 20:30] = (0, 114, 178)
    row = np.linspace(0, 1, 8, dtype=np.float32)
    pair = picture_of_two(drawing, drawing[:, ::-1])
    drawn = Finding("row", "row 3: one column turns it", 0.95, {}, pair, row)
    workspace.add_findings(told.id, [drawn])
    start, slide, end = story_of(workspace)
    for one in (start, slide, end):
        assert one.drawn
        shown = exhibit(one, dark=True)
        assert shown is not None
        assert (shown == 255).all(-1).mean() < 0.05, f"{one.key}: white but for the slider"
    image = exhibit(replace(slide, pair=None, picture=np.full((8, 8, 3), 255), drawn=False))
    assert image is not None and (image == 255).all(), "a white image stays white"


def test_a_number_that_needs_words_is_not_shown_large():
    assert large_words(Quantity("Share", 0.25, text="25.0 % (20 % to 30 %)")) == "25.0 %"
    assert large_words(Quantity("Inputs", 0.1, text="0 % to 25.0 % of the inputs")) == ""
    assert large_words(None) == ""


def test_the_accuracy_of_another_model_is_not_told(workspace, told):
    other = Right("another", "traffic", 0.5, 180)
    start = story_of(workspace, other)[0]
    assert start.title == "How robust is net?" and not start.number


def test_a_story_is_about_one_model_and_never_longer_than_six_slides(workspace):
    made = run(workspace, says="fails")
    workspace.add_findings(made.id, [flipped(f"x.png: flip {i}", 0.5 + i / 100) for i in range(9)])
    for finding in workspace.findings():
        workspace.set_finding(finding.id, starred=True)
    other = run(workspace, [model("other", 1)], says="fails")
    workspace.add_findings(other.id, [flipped("y.png: not told", 0.1)])
    slides = story_of(workspace)
    assert len(slides) == 6
    assert not any("not told" in slide.title for slide in slides)


def test_a_story_is_about_the_model_asked_for_unless_something_is_starred(workspace, told):
    graver = run(workspace, [model("other", 1)], says="fails")
    workspace.add_findings(graver.id, [flipped("y.png: graver", 0.99)])
    own = told.request.models[0].fingerprint
    assert story_of(workspace)[0].title == "How robust is other?"
    start, first, *_ = story_of(workspace, right(told), about=own)
    assert start.title == "net is right on 98.9 % of 180 inputs"
    assert first.title == "Yet 2 pixels turn “red” into “green”"
    assert story_of(workspace, about="of nobody")[0].title == "How robust is other?"
    starred = next(one for one in workspace.findings() if "graver" in one.title)
    workspace.set_finding(starred.id, starred=True)
    assert story_of(workspace, about=own)[0].title == "How robust is other?"


def test_a_run_that_no_finding_speaks_of_is_told_with_its_number_and_picture(workspace):
    run(workspace, says="holds")
    start, middle, end = story_of(workspace)
    assert middle.key.startswith("run ") and middle.status is Status.HOLDS
    assert "It is holds" in middle.text and middle.view is not None and middle.number
    assert (start.key, end.key) == ("start", "end")


def test_own_words_stay_with_their_slide_and_can_be_taken_away(workspace, told):
    key = story_of(workspace)[1].key
    write_edits(workspace, {key: Words("Two pixels", "Think of that.")})
    assert (story_of(workspace)[1].title, story_of(workspace)[1].text) == (
        "Two pixels",
        "Think of that.",
    )
    assert story_of(workspace)[0].title == "How robust is net?"
    write_edits(workspace, {})
    assert story_of(workspace)[1].title.startswith("2 pixels")


def test_nonsense_in_a_workspace_is_no_words(workspace):
    workspace.values.set("story", {"a": 3, "b": {"title": 7}, "c": ["x"]})
    assert read_edits(workspace) == {"b": Words("7", "")}
    workspace.values.set("story", "nonsense")
    assert read_edits(workspace) == {}


def test_pdf_film_and_html_hold_every_slide(workspace, told, tmp_path):
    slides = story_of(workspace, right(told))
    pdf = write_story(slides, tmp_path / "s.pdf", title="t").read_bytes()
    assert pdf.startswith(b"%PDF") and pdf.count(b"/Type /Page ") == len(slides)
    film = cv2.VideoCapture(str(write_story(slides, tmp_path / "s.mp4", title="t")))
    assert film.get(cv2.CAP_PROP_FRAME_COUNT) == len(slides) * 60
    assert film.get(cv2.CAP_PROP_FRAME_WIDTH) == 1280
    html = write_story(slides, tmp_path / "s.html", title="t").read_text(encoding="utf-8")
    assert html.count('<section class="slide">') == len(slides)
    assert all(slide.title in html for slide in slides) and "script" not in html.casefold()
    with pytest.raises(RobguiError, match=r"\.pdf, \.mp4, \.html"):
        write_story(slides, tmp_path / "s.pptx", title="t")


def test_what_comes_from_outside_is_escaped_in_html(workspace, told, tmp_path):
    key = story_of(workspace)[1].key
    write_edits(workspace, {key: Words(EVIL, EVIL)})
    page = write_story(story_of(workspace), tmp_path / "s.html", title=EVIL)
    assert "<script>" not in page.read_text(encoding="utf-8")


def test_the_film_uncovers_the_change(workspace, told):
    slides = [one for one in story_of(workspace) if one.pair is not None]
    frames = list(frames_of(slides))
    assert frames[0].shape == (720, 1280, 3)
    assert not np.array_equal(frames[0], frames[-1]) and np.array_equal(frames[-1], frames[-2])


def asked(workspace, analysis, index, sentence, *, cut=False):
    """A stored run of an analysis of one input that fails."""
    net, numbers = (
        Reference(kind="model", name="net", fingerprint="a" * 16),
        Reference(kind="dataset", name="numbers", fingerprint="b" * 16),
    )
    made = workspace.add_run(
        Request(analysis=analysis, models=(net,), dataset=numbers, indices=(index,))
    )
    workspace.update_run(
        made.id,
        state=RunState.CANCELLED if cut else RunState.DONE,
        step=Step(1, 1, {"nothing": np.zeros(1)}),
        verdict=Verdict(Status.FAILS, sentence),
    )
    return made


def test_the_story_goes_on_with_the_input_it_began_with(workspace):
    lead = asked(workspace, "feature_game", 0, "It flips.")
    workspace.add_findings(lead.id, [flipped()])
    asked(workspace, "zonnscan", 0, "Near the first input.")
    asked(workspace, "zonnscan", 2, "Near another input.", cut=True)
    told = [slide.text for slide in story_of(workspace)]
    assert any("Near the first" in text for text in told)
    assert not any("another" in text for text in told), "what ran last is no part of this story"


def ink(picture, rows):
    """The columns in which something darker than the ground is drawn."""
    return np.flatnonzero((picture[rows].min(-1) < 200).any(0))


def test_a_slide_in_a_file_names_before_and_after(workspace, told, tmp_path):
    slides = [one for one in story_of(workspace) if one.pair is not None]
    spot = fitted(exhibit(slides[0]), SlideArea(*PICTURE))
    below = slice(
        round((spot.y + spot.height + 0.1) * 96), round((spot.y + spot.height + 0.4) * 96)
    )
    frames = list(frames_of(slides))
    left, right = round(spot.x * 96), round((spot.x + spot.height) * 96)
    uncovering = frames[len(frames) // 3]
    for frame, sides in ((frames[0], (1, 0)), (uncovering, (1, 1)), (frames[-1], (0, 1))):
        drawn = ink(frame, below)
        first = ((drawn >= left) & (drawn < left + 60)).any()
        second = ((drawn > right - 60) & (drawn <= right)).any()
        assert (first, second) == sides
    html = write_story(slides, tmp_path / "s.html", title="t").read_text(encoding="utf-8")
    assert html.count('<span class="side">before</span>') == 1
    assert html.count('<span class="side">after</span>') == 1
