"""The paper's tables in small, trajectories from ADS-B records, and networks hardened by
training.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from robgui.core.errors import DataError
from robgui.reproduce.claim import Setting
from robgui.reproduce.last_particle import bench as benches
from robgui.reproduce.last_particle import claims as module
from robgui.reproduce.last_particle.claims import claims
from robgui.reproduce.last_particle.hardening import Defence, train_table
from robgui.reproduce.last_particle.trajectories import (
    FEATURES,
    NAMES,
    POINTS,
    STEP,
    describe,
    kind_of_aircraft,
    read_trajectories,
)


def _flight(
    airframe: str, points: int, speed: float = 400.0, turn: float = 0.0, start: int = 0
) -> list[dict]:
    return [
        {
            "icao24": airframe,
            "timestamp": 1000 * (start + STEP * i),
            "groundspeed": speed,
            "track": (350 + turn * STEP * i) % 360,
            "vertical_rate": 0.0,
        }
        for i in range(points)
    ]


def _folder(tmp_path: Path, records: list[dict], types: str) -> Path:
    with gzip.open(tmp_path / "sky.json.gz", "wt", encoding="utf-8") as file:
        json.dump(records, file)
    (tmp_path / "sky_aircraft_types.csv").write_text(types, encoding="utf-8")
    return tmp_path


def test_a_straight_flight_has_its_speed_and_neither_turn_nor_acceleration(tmp_path: Path) -> None:
    folder = _folder(tmp_path, _flight("a", POINTS), "icao24,type\na,A320\n")
    found = read_trajectories(folder)
    row = dict(zip(FEATURES, found.features[0], strict=True))
    assert found.features.shape == (1, 72) and NAMES[found.labels[0]] == "short-haul"
    assert row["mean of ground speed"] == pytest.approx(400 * 0.514444) and row[
        "deviation of speed"
    ] == pytest.approx(0, abs=1e-9)
    assert row["highest of acceleration"] == pytest.approx(0, abs=1e-9) and row[
        "mean of turn rate"
    ] == pytest.approx(0, abs=1e-12)


def test_a_circle_has_the_curvature_of_its_radius_across_north(tmp_path: Path) -> None:
    folder = _folder(tmp_path, _flight("a", POINTS, speed=200, turn=0.5), "icao24,type\na,GLF5\n")
    row = dict(zip(FEATURES, read_trajectories(folder).features[0], strict=True))
    rate = np.radians(0.5)
    assert row["mean of turn rate"] == pytest.approx(rate)
    assert row["mean of ground curvature"] == pytest.approx(rate / (200 * 0.514444))


def test_gaps_unknown_types_and_broken_records_leave_no_piece(tmp_path: Path) -> None:
    broken = [
        {"icao24": "a", "timestamp": None},
        {"icao24": 3, "timestamp": 1, "groundspeed": 1, "track": 1, "vertical_rate": 1},
    ]
    split = _flight("a", POINTS - 1) + _flight("a", POINTS - 1, start=100_000)
    records = [*broken, *split, *_flight("b", 2 * POINTS), *_flight("c", 2 * POINTS + 3)]
    found = read_trajectories(
        _folder(tmp_path, records, "icao24,old_type,type\na,,A320\nb,,\nc,,B77W\n")
    )
    assert (
        found.airframes == ("c", "c")
        and NAMES[found.labels[0]] == "long-haul"
        and np.isfinite(found.features).all()
    )


@pytest.mark.parametrize(
    ("designator", "name"),
    [("B738", "short-haul"), ("A388", "long-haul"), ("PC12", "business or small")],
)
def test_designators_are_told_apart(designator: str, name: str) -> None:
    assert NAMES[kind_of_aircraft(designator)] == name


def test_a_folder_without_records_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no ADS-B records"):
        read_trajectories(tmp_path)
    with pytest.raises(DataError, match="30 points in a row"):
        read_trajectories(_folder(tmp_path, _flight("a", 5), "icao24,type\na,A320\n"))
    with pytest.raises(DataError, match="no ADS-B records"):
        list(claims(Setting(data=tmp_path / "nowhere", quick=True)))


def test_a_constant_piece_is_described_by_finite_numbers() -> None:
    assert np.isfinite(
        describe(np.column_stack([np.arange(POINTS) * STEP, np.zeros((POINTS, 3))]))
    ).all()


@pytest.mark.parametrize(
    "defence",
    [
        None,
        Defence("adversarial", "linf", 0.02),
        Defence("adversarial", "l2", 0.02),
        Defence("noise", "l2", 0.02),
    ],
)
def test_training_learns_and_depends_on_the_seed_alone(defence: Defence | None) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(200, 4)).astype(np.float32)
    y = (x[:, 0] > x[:, 1]).astype(np.int64)
    runs = [
        [*train_table(x, y, ("a", "b"), hidden=(16,), epochs=60, seed=1, defence=defence)][
            -1
        ].result
        for _ in range(2)
    ]
    first, second = (run.infer(torch.from_numpy(x)) for run in runs)
    assert torch.equal(first, second) and (first.argmax(1).numpy() == y).mean() > 0.85


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        benches,
        "SMALL",
        benches.ParticleSize((1e-4, 0.1), 3, 50, ((8,),), (2, 4), (8,), 5, critical=0.05),
    )


def test_every_table_is_run_on_the_bundled_data_and_judged(tiny: None) -> None:
    found = list(claims(Setting(quick=True)))
    statements = [claim.statement for claim in found]
    assert len(found) == 5 + 3 + 3 + 4 + 1 and len(set(statements)) == len(found)
    assert all(claim.ours for claim in found) and not any(
        "Table" in claim.note and not claim.ours for claim in found
    )
    assert next(claim for claim in found if "found failing" in claim.statement).holds is True


def test_shares_of_nothing_do_not_hold(tiny: None) -> None:
    bench = benches.open_bench(Setting(quick=True))
    first, _, third = module.table_2(bench, "forest")
    validated, certified = first.detail["validated"], first.detail["certified"]
    assert first.holds == (validated[0] > 0 and validated[-1] >= validated[0])
    assert max(validated) > 0 or first.holds is False
    assert min(certified) > 0 and (third.holds is None) == third.ours.endswith("of 0")


def test_a_model_without_bounds_cannot_run_table_1_and_says_why(tiny: None) -> None:
    bench = benches.open_bench(Setting(quick=True))
    wave = torch.nn.Sequential(torch.nn.Linear(30, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    from robgui.core.model.classifier import Classifier

    found = list(
        module.table_1(
            bench, Classifier.from_module(wave, (30,), bench.names, output="logits"), bench.test
        )
    )
    assert len(found) == 5 and all(claim.holds is None and "tanh" in claim.note for claim in found)
