"""What a pickle would import, as far as it can be seen without running it."""

from __future__ import annotations

import io
import os
import pickle
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier

from robgui.core.loading.pickles import listing
from robgui.core.trust.snapshot import Snapshot
from robgui.gui.model.trust_dialog import what_runs

SYSTEM = f"{os.name}.system"


class Calls:
    """An object that calls the system when it is unpickled."""

    def __reduce__(self):
        return os.system, ("true",)


def shown(path: Path) -> str:
    """What the question of trust shows of a file."""
    snapshot = Snapshot(path, "")
    try:
        return what_runs(snapshot.code)
    finally:
        snapshot.discard()


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_a_plain_pickle_is_listed_whole(protocol):
    found = listing(io.BytesIO(pickle.dumps([Calls(), np.zeros(3)], protocol)), pickles=5)
    assert found.whole and SYSTEM in found.names


def test_a_name_that_is_fetched_from_the_memo_is_listed_as_what_it_is():
    again = b"\x80\x04\x8c\x02os\x94\x8c\x06system\x94\x93\x94K\x01h\x00h\x01\x93."
    assert listing(io.BytesIO(again)).names == ("os.system",)


def test_a_call_behind_an_array_of_a_joblib_file_is_listed_and_the_list_says_that_it_is_not_all(
    tmp_path,
):
    joblib.dump([np.arange(500.0), Calls()], tmp_path / "m.joblib")
    with (tmp_path / "m.joblib").open("rb") as file:
        found = listing(file)
    assert not found.whole and SYSTEM in found.names
    words = shown(tmp_path / "m.joblib")
    assert SYSTEM in words and "calls these and more that cannot be listed" in words


def test_the_class_of_a_network_in_a_joblib_file_is_listed(tmp_path):
    x = np.random.default_rng(0).random((40, 3))
    net = MLPClassifier((4,), max_iter=500, solver="lbfgs", tol=0.1).fit(x, x[:, 0] > 0.5)
    joblib.dump({"scale": x, "net": net}, tmp_path / "m.joblib")
    assert "MLPClassifier" in shown(tmp_path / "m.joblib")


def test_a_compressed_file_says_that_nothing_can_be_listed(tmp_path):
    joblib.dump([Calls()], tmp_path / "m.joblib", compress=("zlib", 3))
    words = shown(tmp_path / "m.joblib")
    assert SYSTEM not in words and "cannot be listed without running it." in words
