"""The panels of the semantic method: maps, growing regions, the safe share, and the controls of
the scene.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image
from PySide6.QtCore import QPointF

from robgui.analyses.semantic import Traps, scene_of
from robgui.analyses.semantic.scene.axes import image_axes, varied
from robgui.analyses.semantic.words import with_unit
from robgui.core.view import Boxes, Film, Matrix
from robgui.gui.app.theme import theme
from robgui.gui.forms.chooser import Chooser
from robgui.gui.panels.generic import GenericPanel
from robgui.gui.panels.semantic.map_facts import MEAN
from robgui.gui.panels.semantic.slider import AxisRow
from robgui.gui.state.selection import Selection

GRID = {"step": {"rotation": 60.0, "scale": 25.0}, "span": "whole"}
#: Regions as published, over the whole range.
QUICK = {"iterations": 12, "start_count": 2, "mode": "robust", "samples": 256, "span": "whole"}


@pytest.fixture
def map_panel(bench):
    return bench("semantic_map")


@pytest.fixture
def regions_panel(bench):
    return bench("semantic_regions")


def settle(qtbot, store):
    qtbot.waitUntil(
        lambda: not store.pictures.busy and not (store.busy or store.keeping.busy),
    )


def scene_ready(qtbot, panel):
    qtbot.waitUntil(lambda: bool(panel.controls.rows) and panel.controls.picture.shown)


# --- the map --------------------------------------------------------------------------------------


def test_every_network_and_the_mean_of_all_can_be_chosen_and_is_drawn(store, map_panel, run):
    panel, pane = map_panel
    result = run(panel, pane, **GRID)
    assert result.networks == ("fashion_mlp.pt2", "fashion_rnn.pt")
    words = [panel.chooser.itemText(i) for i in range(panel.chooser.count())]
    assert words == ["fashion_mlp.pt2", "fashion_rnn.pt", "Mean over all networks and shapes"]
    shown = panel.view.matrix.view
    names = np.array(shown.class_names)[shown.classes]
    own = names != "other classes"
    assert (names == np.array(result.labels)[result.tops[0, 0]])[own].all() and own.mean() > 0.5, (
        "the hue is the class on top"
    )
    assert shown.class_names[0] == result.labels[result.target[0]]
    np.testing.assert_allclose(shown.values, result.top_scores[0, 0])
    panel.chooser.setCurrentIndex(2)
    np.testing.assert_allclose(panel.view.matrix.heat.image.image, result.score)
    assert (
        panel.view.matrix.view.x.title == "Rotation (°)"
        and panel.view.matrix.view.y.title == "Scale (%)"
    )
    theme.apply(True)
    theme.apply(False)


def test_the_verdict_and_the_export_are_of_the_network_on_show(store, map_panel, run):
    panel, pane = map_panel
    run(panel, pane, **GRID)
    assert (
        panel.verdict.text().startswith("fashion_mlp.pt2 ")
        and "fashion_rnn" not in panel.verdict.text()
    )
    panel.chooser.setCurrentIndex(1)
    assert panel.verdict.text().startswith("fashion_rnn.pt ")
    assert panel.views()[0].title == "Which class wins: fashion_rnn.pt"
    panel.chooser.setCurrentIndex(2)
    assert all(
        name in panel.verdict.verdict.sentence for name in ("fashion_mlp.pt2", "fashion_rnn.pt")
    )
    titles = [view.title for view in panel.views()]
    assert titles[0].startswith("Score of the class, mean") and len(set(titles)) == len(titles)


def test_the_mouse_shows_the_picture_there_and_its_five_best_classes(qtbot, store, map_panel, run):
    panel, pane = map_panel
    result = run(panel, pane, **GRID)
    panel.view.matrix.heat.hovered.emit((58.0, 102.0))
    qtbot.waitUntil(lambda: "Rotation 60°" in panel.here.caption.text())
    rows = panel.here.shares.rows
    assert len(rows) == 5 and sorted((share for _, share, _ in rows), reverse=True) == [
        share for _, share, _ in rows
    ]
    row, column = int(np.flatnonzero(result.y == 100)[0]), int(np.flatnonzero(result.x == 60)[0])
    assert rows[0][0].name == result.labels[result.tops[0, 0, row, column]]
    assert rows[0][1] == pytest.approx(float(result.top_scores[0, 0, row, column]), abs=1e-4)
    panel.view.matrix.heat.hovered.emit(None)
    qtbot.waitUntil(lambda: "Rotation 0°" in panel.here.caption.text())
    assert "Shift+click" in panel.here.tip.text(), "the scene as it stands, and what can be done"


def test_a_click_is_a_start_for_regions_and_shift_adds_another(qtbot, store, map_panel, run):
    panel, pane = map_panel
    run(panel, pane, **GRID)
    panel.view.matrix.heat.clicked.emit(61.0, 99.0)
    assert store.selection.point == (60.0, 100.0)
    regions = store.next_run.params["semantic_regions"]
    assert (
        regions.starts == ((60.0, 100.0),)
        and regions.axes == ("rotation", "scale")
        and regions.scene == "image"
    )
    panel.view.pointed.emit(0, 0, True)
    assert store.next_run.params["semantic_regions"].starts == ((60.0, 100.0), (-180.0, 50.0))
    assert (
        len(panel.view.marks.starts.getData()[0]) == 2
        and len(panel.view.marks.point.getData()[0]) == 1
    )
    panel.clear_starts.click()
    assert (
        store.next_run.params["semantic_regions"].starts == ()
        and not panel.clear_starts.isEnabled()
    )
    with qtbot.waitSignal(store.sending.arrived) as arrived:
        panel.grow.click()
    assert arrived.args == ["semantic_regions"]


def test_the_picture_at_the_clicked_point_can_be_sent_to_any_other_analysis(
    qtbot, store, map_panel, run
):
    panel, pane = map_panel
    run(panel, pane, **GRID)
    assert not panel.offers()
    panel.view.matrix.heat.clicked.emit(60.0, 100.0)
    qtbot.waitUntil(lambda: bool(panel.offers()))
    offer = panel.offers()[0]
    assert (
        offer.inputs.shape == (1, 1, 28, 28)
        and offer.places == (0,)
        and "rotation 60°" in offer.title
    )
    assert panel.send.isVisible()
    with qtbot.waitSignal(store.sending.arrived):
        store.sending.send(offer, "zonnscan", panel.request, panel.run_id)
    derived = store.library.dataset.items[-1]
    assert "rotation 60°" in derived.name and len(derived.trail) == 2
    np.testing.assert_allclose(derived.values, offer.inputs[0], atol=1e-6)


def test_one_parameter_gives_one_curve_for_each_network_and_their_mean(
    qtbot, store, map_panel, run
):
    panel, pane = map_panel
    result = run(panel, pane, axes=("rotation",), step={"rotation": 30.0}, span="whole")
    lines = panel.view.curves.view.lines
    assert [line.name for line in lines[:3]] == [
        "fashion_mlp.pt2",
        "fashion_rnn.pt",
        "mean of all networks",
    ]
    np.testing.assert_allclose(lines[1].y, result.scores[1, 0, 0])
    np.testing.assert_allclose(lines[2].y, result.score[0], rtol=1e-5)
    heard = []
    panel.view.hovered.connect(heard.append)
    plot = panel.view.curves.plot
    place = QPointF(30.0, float(result.scores[1, 0, 0, 7]))
    plot.scene().sigMouseMoved.emit(plot.box.mapViewToScene(place))
    assert heard == [(0, 7, 1)], "the nearest curve is that of the second network"
    qtbot.waitUntil(lambda: panel.here.picture.shown)
    panel.view.curves.chosen.emit(30.0)
    assert (
        store.next_run.params["semantic_regions"].starts == ((30.0,),)
        and len(panel.view.marks.starts.getData()[0]) == 1
    )


def test_a_map_whose_model_is_no_longer_open_says_so(qtbot, store, map_panel, run):
    panel, pane = map_panel
    run(panel, pane, **GRID)
    settle(qtbot, store)
    store.library.remove_model(store.library.models[0])
    assert panel.which == (1, 0), "the map of the model that is in use now"
    panel.choose((0, 0))
    panel.view.matrix.heat.hovered.emit((0.0, 100.0))
    assert "fashion_mlp.pt2 is not open" in panel.here.picture.words


def test_traps_are_marked_listed_and_pointed_at(qtbot, store, map_panel, run):
    panel, pane = map_panel
    result = run(panel, pane, **GRID)
    one, none = np.array([0.1]), np.zeros(1, dtype=int)
    images = np.zeros((1, 1, 28, 28), np.float32)
    traps = Traps(np.array([[0.0, 100.0]]), one, one * 8, none, none, none + 1, none, images)
    trapped = replace(result, traps=traps)
    panel.result = trapped
    panel.draw(trapped)
    assert (
        panel.stage.views.bar.tabText(panel.stage.views.stack.indexOf(panel.traps)) == "Traps (1)"
    )
    assert [spot.name for spot in panel.view.matrix.view.spots] == ["usual pose"]
    panel.traps.chosen.emit(0)
    assert panel.which == (1, 0) and [spot.symbol for spot in panel.view.matrix.view.spots] == [
        "circle",
        "cross",
        "circle",
    ]
    assert store.selection.point == (0.0, 100.0)
    offers = {offer.title: offer for offer in panel.offers()}
    assert offers["The worst trap"].inputs.shape == (1, 1, 28, 28)


def test_in_a_small_window_the_map_takes_turns_with_its_details(qtbot, store, map_panel, run):
    panel, pane = map_panel
    run(panel, pane, **GRID)
    assert not panel.stage.narrow
    panel.resize(400, 420)
    qtbot.waitUntil(lambda: panel.stage.narrow and panel.view.isVisible())
    assert panel.stage.views.bar.tabText(0) == "Map" and panel.view.width() > 300
    panel.view.matrix.heat.clicked.emit(0.0, 100.0)
    qtbot.waitUntil(panel.pose.inset.isVisible)
    panel.resize(900, 600)
    qtbot.waitUntil(
        lambda: not panel.stage.narrow and panel.view.isVisible() and panel.here.isVisible(),
    )


# --- the scene ------------------------------------------------------------------------------------


def test_sliders_and_ticks_write_into_the_form_and_the_picture_follows(qtbot, store, map_panel):
    panel, _ = map_panel
    scene_ready(qtbot, panel)
    rows = panel.controls.rows
    assert rows["rotation"].tick.isChecked() and not rows["rotation"].slider.isEnabled()
    before = panel.controls.picture.pixmap.toImage()
    rows["brightness"].slider.setValue(rows["brightness"].slider.maximum())
    assert store.next_run.params["semantic_map"].fixed == {"brightness": 50.0}
    qtbot.waitUntil(lambda: panel.controls.picture.pixmap.toImage() != before)
    rows["contrast"].tick.click()
    assert store.next_run.params["semantic_map"].axes == ("scale", "contrast")
    assert not rows["rotation"].tick.isChecked() and rows["rotation"].slider.isEnabled()
    panel.controls.usual.click()
    assert (
        store.next_run.params["semantic_map"].fixed == {}
        and rows["brightness"].slider.value() == 50
    )


def test_the_ranges_that_the_sliders_show_are_those_that_a_run_takes(qtbot, store, map_panel):
    panel, _ = map_panel
    scene_ready(qtbot, panel)
    for given in ({}, {"span": "whole"}, {"span": "usual", "ranges": {"scale": (80.0, 90.0)}}):
        store.params_offered.emit("semantic_map", given)
        params = store.next_run.params["semantic_map"]
        for axis in varied(image_axes(False, 28), params, "image"):
            row = panel.controls.rows[axis.name]
            assert row.value.text() == f"{with_unit(axis.low, '')} to " + with_unit(
                axis.high, axis.unit
            )
            assert f"from {with_unit(axis.low, axis.unit)} to" in row.tick.toolTip()


def test_a_mesh_is_chosen_mapped_without_inputs_and_its_picture_comes_from_no_input(
    qtbot, store, map_panel, run
):
    panel, pane = map_panel
    scene_ready(qtbot, panel)
    panel.controls.rows["brightness"].moved.emit(20.0)
    panel.controls.scene_box.setCurrentIndex(panel.controls.scene_box.findData("box"))
    panel.controls.scene_box.activated.emit(panel.controls.scene_box.currentIndex())
    assert (
        store.next_run.params["semantic_map"].scene == ("box",)
        and store.next_run.params["semantic_map"].fixed == {}
    )
    qtbot.waitUntil(lambda: "azimuth" in panel.controls.rows)
    result = run(panel, pane, step={"azimuth": 90.0, "elevation": 50.0})
    assert panel.request.dataset is None and result.shapes == ("box",)
    panel.view.matrix.heat.clicked.emit(90.0, 40.0)
    qtbot.waitUntil(lambda: bool(panel.offers()))
    assert panel.offers()[0].places == (-1,)
    assert store.next_run.params["semantic_regions"].target == result.labels[result.target[0]]


def test_several_meshes_have_a_map_each_their_mean_and_the_mean_of_all(
    qtbot, store, map_panel, run
):
    panel, pane = map_panel
    scene_ready(qtbot, panel)
    menu = panel.controls.more.menu()
    for name in ("Box", "Torus"):
        menu.aboutToShow.emit()
        next(action for action in menu.actions() if action.text() == name).setChecked(True)
    assert store.next_run.params["semantic_map"].scene == ("box", "torus")
    assert panel.controls.scene_box.currentText() == "2 scenes: Box, Torus"
    result = run(panel, pane, step={"azimuth": 180.0, "elevation": 50.0})
    assert panel.chooser.count() == 2 * 2 + 2 + 1
    panel.choose((1, MEAN))
    assert panel.chooser.currentText() == "fashion_rnn.pt, mean over the shapes"
    np.testing.assert_allclose(panel.view.matrix.heat.image.image, result.scores[1].mean(0))


def test_a_mesh_file_can_be_opened_and_a_bad_one_says_why(qtbot, store, regions_panel, tmp_path):
    panel, _ = regions_panel
    scene_ready(qtbot, panel)
    good, bad = tmp_path / "corner.obj", tmp_path / "bad.obj"
    good.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n")
    bad.write_text("nothing here\n")
    panel.controls.use_file(good)
    assert store.next_run.params["semantic_regions"].scene == str(good)
    qtbot.waitUntil(lambda: "azimuth" in panel.controls.rows)
    assert panel.controls.scene_box.currentText() == "corner.obj"
    panel.controls.use_file(bad)
    qtbot.waitUntil(
        lambda: not panel.controls.picture.shown and "bad.obj" in panel.controls.picture.words,
    )


def test_a_mesh_file_stands_as_its_setting_says_in_every_picture_and_in_the_regions(
    qtbot, store, map_panel, run, tmp_path, demo_models
):
    panel, pane = map_panel
    scene_ready(qtbot, panel)
    path = tmp_path / "slab.obj"
    path.write_text("v 0 0 0\nv 4 0 0\nv 0 2 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    panel.controls.use_file(path)
    qtbot.waitUntil(lambda: "azimuth" in panel.controls.rows and panel.controls.picture.shown)
    settle(qtbot, store)
    lying = panel.controls.picture.pixmap.toImage()
    result = run(panel, pane, up="z", step={"azimuth": 180.0, "elevation": 50.0})
    qtbot.waitUntil(lambda: panel.controls.picture.pixmap.toImage() != lying)
    panel.view.matrix.heat.clicked.emit(0.0, 40.0)
    qtbot.waitUntil(lambda: panel.pose.pointed is not None)
    network = demo_models[0]
    point = torch.tensor([[result.x[0], result.y[1]]], dtype=torch.float64)
    np.testing.assert_allclose(
        panel.pose.pointed.image, scene_of(panel.params, network).images(point)[0], atol=1e-5
    )
    assert store.next_run.params["semantic_regions"].up == "z"


# --- regions --------------------------------------------------------------------------------------


def test_regions_grow_on_the_map_and_the_timeline_goes_back_to_the_start(
    qtbot, store, regions_panel, run
):
    panel, pane = regions_panel
    result = run(panel, pane, **QUICK)
    settle(qtbot, store)
    steps = result.trace.shape[1]
    assert panel.timeline.count == steps and panel.timeline.place == steps - 1
    end = panel.picture.view
    assert isinstance(end, Boxes) and len({box.ink for box in end.boxes}) == 3
    assert [key.words for key in panel.picture.legend.keys] == [
        "grow, naive",
        "grow, black-box",
        "grow, with gradients",
        "start",
    ]
    panel.timeline.slider.setValue(0)
    begin = panel.picture.view
    assert max(box.width for box in begin.boxes) <= max(box.width for box in end.boxes)
    np.testing.assert_allclose(panel.picture.heat.image.image, result.map_score)
    assert panel.in_out.view.pictures[0].caption.startswith("inside, ")
    panel.table.chosen.emit(4)
    assert panel.row == 4 and "black-box 2" in panel.in_out.view.note
    columns = {column.name: column for column in panel.table.view.columns}
    assert columns["Region"].cells[4] == "black-box 2" and columns["of"].cells == (256,) * 6
    assert panel.lost.view.series[0].values.tolist() == [lost / 256 for lost in result.inside_lost]


def test_while_the_scene_is_looked_at_the_map_is_there_before_any_region(
    qtbot, store, regions_panel, run
):
    panel, pane = regions_panel
    result = run(panel, pane, **QUICK)
    settle(qtbot, store)
    names = (
        "low",
        "high",
        "trace",
        "loss",
        "method",
        "start",
        "start_number",
        "volume",
        "inside_lost",
        "inside_total",
        "inside_most",
    )
    names += ("grown", "converged", "hit_domain", "never_grew", "holds", "warnings", "worst_region")
    names += ("inside_mean", "inside_var", "inside_scores", "start_score", "start_top1")
    none = {name: getattr(result, name)[:0] for name in names}
    early = replace(
        result,
        **none
        | {
            "trace": result.trace[:0, :1],
            "loss": result.loss[:0, :0],
            "inside_scores": np.zeros((0, 0)),
        },
    )
    panel.result = early
    panel.draw(early)
    np.testing.assert_allclose(panel.picture.heat.image.image, result.map_score)
    assert panel.start_box.currentText() == "Looking for starts …" and panel.row == -1
    assert (
        not panel.in_out.view.pictures
        and not panel.picture.view.boxes
        and panel.table.view.height == 0
    )
    panel.result = result
    panel.draw(result)
    assert (
        panel.start_box.count() == 3 and panel.in_out.view.pictures and panel.table.view.height == 6
    )


def test_a_finer_map_of_the_same_scene_lies_behind_the_regions(qtbot, store, bench, run):
    panel, pane = bench("semantic_map")
    found = run(panel, pane, step={"rotation": 20.0, "scale": 10.0}, span="whole")
    qtbot.waitUntil(lambda: store.history.runs[0].has_result)
    regions, form = bench("semantic_regions")
    run(regions, form, **QUICK)
    qtbot.waitUntil(lambda: regions.picture.heat.image.image.shape == found.score.shape)
    np.testing.assert_allclose(regions.picture.heat.image.image, found.scores[0, 0])
    film = regions.views()[0]
    assert isinstance(film, Film) and isinstance(film.frames[0].behind, Matrix)
    assert film.frames[0].behind.values.shape == found.score.shape, (
        "what is exported is what is seen"
    )


def test_a_click_beside_the_regions_is_the_next_start(qtbot, store, regions_panel, run):
    panel, pane = regions_panel
    run(panel, pane, **QUICK)
    panel.picture.heat.clicked.emit(15.0, 95.0)
    assert store.next_run.params["semantic_regions"].starts == ((15.0, 95.0),)
    assert len(panel.marks.point.getData()[0]) == 1 and panel.stale


def test_the_growing_is_saved_as_an_animation_while_the_window_goes_on(
    qtbot, store, regions_panel, run, tmp_path
):
    panel, pane = regions_panel
    result = run(panel, pane, **QUICK)
    path = tmp_path / "regions.gif"
    panel.save_film(path)
    assert not panel.film_button.isEnabled()
    qtbot.waitUntil(
        lambda: (
            panel.film_button.isEnabled()
            and path.exists()
            and not (store.busy or store.keeping.busy)
        ),
    )
    with Image.open(path) as film:
        assert film.n_frames == result.trace.shape[1]


def test_more_than_two_parameters_have_a_lane_each(qtbot, store, regions_panel, run):
    panel, pane = regions_panel
    run(panel, pane, **QUICK | {"axes": ("rotation", "scale", "brightness"), "mode": "adversarial"})
    view = panel.picture.view
    assert view.lanes == ("Brightness", "Scale", "Rotation") and panel.start == 0
    assert all(box.x >= 0 and box.x + box.width <= 1 + 1e-6 for box in view.boxes)
    panel.start_box.setCurrentIndex(0)
    assert len(panel.picture.view.boxes) > len(view.boxes)
    panel.picture.heat.clicked.emit(0.5, 0.5)
    assert store.next_run.params["semantic_regions"].starts == (), "a place in a lane is no pose"


def test_a_single_parameter_is_shown_in_its_unit_with_its_score(qtbot, store, regions_panel, run):
    panel, pane = regions_panel
    result = run(panel, pane, axes=("rotation",), **QUICK)
    assert panel.picture.view.x.title == "Rotation (°)" and len(panel.picture.view.lanes) == 6
    curve = panel.more.widgets[0].view
    np.testing.assert_allclose(curve.lines[0].y, result.map_score[0])


# --- the safe share -------------------------------------------------------------------------------


def test_the_safe_share_needs_no_panel_of_its_own(store, bench, run):
    panel, pane = bench("srvr")
    store.select(Selection(input=3))
    result = run(panel, pane, iterations=8, start_count=2)
    assert type(panel) is GenericPanel
    bars, ways, table = (widget.view for widget in panel.board.widgets[:3])
    assert bars.names == result.networks and len(bars.series) == 1 and len(ways.series) == 3
    np.testing.assert_allclose(bars.series[0].values, result.srvr)
    columns = {column.name: column.cells for column in table.columns}
    assert columns["Regions"] == (6, 6) and "Still growing when stopped" in columns


def test_the_form_and_the_toolbar_name_every_model_that_is_run(qtbot, store, map_panel):
    _, pane = map_panel
    chooser = Chooser(store)
    qtbot.addWidget(chooser)
    chooser.show_analysis("semantic_map")
    assert (
        not pane.models.isHidden()
        and pane.models.text() == "Runs 2 models: fashion_mlp.pt2, fashion_rnn.pt."
    )
    assert (
        not chooser.more.isHidden()
        and chooser.more.text() == "and 1 more"
        and "fashion_rnn.pt" in chooser.more.toolTip()
    )
    pane.show_analysis("semantic_regions")
    chooser.show_analysis("semantic_regions")
    assert pane.models.isHidden() and chooser.more.isHidden(), (
        "this one looks at the model in use alone"
    )


def test_the_name_of_a_slider_keeps_a_distance_from_its_value(qtbot, store, map_panel):
    panel, _ = map_panel
    scene_ready(qtbot, panel)
    for row in panel.findChildren(AxisRow):
        row.resize(row.minimumSizeHint())
        row.layout().activate()
        assert row.value.geometry().left() - row.tick.geometry().right() >= 6


def test_srvr_says_how_far_its_regions_are_before_the_first_of_them_has_ended(qtbot, store, bench):
    panel, pane = bench("srvr")
    pane.form().set_values({"iterations": 200, "start_count": 4})
    notes = []
    store.job_stepped.connect(lambda job: notes.append((job.newest.note, panel.subject.words)))
    pane.run.click()
    qtbot.waitUntil(lambda: any("regions at rest" in subject for _, subject in notes))
    note = next(note for note, subject in notes if "regions at rest" in subject)
    assert note.startswith("Network 1 of 2: step ") and "of 200" in note
    store.runner.stop_all()
    qtbot.waitUntil(lambda: not store.runner.busy)
    qtbot.waitUntil(lambda: "regions at rest" not in panel.subject.words)


def test_the_largest_boxes_are_drawn_and_counted_by_default(qtbot, store, regions_panel, run):
    panel, pane = regions_panel
    result = run(panel, pane, start_count=2)
    settle(qtbot, store)
    assert result.method == ("box", "box") and panel.params.mode == "box"
    assert [box.name for box in panel.picture.view.boxes] == ["largest box"] * 2
    panel.timeline.moved.emit(0)
    assert panel.table.view.height == 2 and panel.lost.view.levels[0].name == "allowed"
    assert panel.in_out.view.pictures


def test_a_safe_share_that_is_reopened_brings_back_what_varied_and_where_the_rest_stood(
    qtbot, store, bench, run
):
    panel, pane = bench("srvr")
    run(panel, pane, axes=("rotation",), fixed={"scale": 120.0}, iterations=5)
    shown = store.history.runs[0]
    pane.form().set_values({"axes": (), "fixed": {}})
    assert panel.stale
    store.history.show_run(shown)
    qtbot.waitUntil(lambda: pane.form().values().fixed == {"scale": 120.0})
    assert pane.form().values().axes == ("rotation",) and not panel.stale
