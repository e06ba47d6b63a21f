from __future__ import annotations

import numpy as np
import pytest

from robgui.batch import shipping
from robgui.core.dataset import open_dataset
from robgui.core.errors import DataError, ModelError
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.request import Request, reference
from robgui.core.loading import load


def arrive(wanted, root):
    parcel = shipping.pack(wanted)
    return shipping.relocated(
        wanted, shipping.unpack(wanted, shipping.digest(parcel), lambda: parcel, root)
    )


def test_a_model_arrives_with_its_side_file_and_its_architecture(files, tmp_path):
    classifier = load(files / "net_0.safetensors", trust=True)
    wanted = reference(classifier)
    arrived = arrive(wanted, tmp_path)
    assert arrived.path != wanted.path
    assert {path.name for path in tmp_path.rglob("*.*")} == {
        "net_0.safetensors",
        "net_0.safetensors.toml",
        "nets.py",
    }
    request = Request(analysis="zonnscan", models=(arrived,))
    (model,) = LoadedCache("cpu").models(request, frozenset({classifier.ran}))
    assert model.fingerprint == wanted.fingerprint


def test_a_folder_of_images_arrives_whole_and_labels_come_along(tmp_path):
    from PIL import Image

    here, there = tmp_path / "here", tmp_path / "there"
    (here / "pictures").mkdir(parents=True)
    there.mkdir()
    for number in range(3):
        Image.fromarray(np.full((4, 4), 40 * number, np.uint8)).save(
            here / "pictures" / f"{number}.png"
        )
    (here / "names.csv").write_text("file,label\n0.png,a\n1.png,b\n2.png,a\n")
    wanted = reference(open_dataset(here / "pictures", labels=str(here / "names.csv")))
    arrived = arrive(wanted, there)
    dataset = LoadedCache("cpu").dataset(Request(analysis="zonnscan", dataset=arrived))
    assert dataset.labels.tolist() == [0, 1, 0]
    assert str(dataset.path).startswith(str(there))


def test_a_parcel_is_fetched_once(files, tmp_path):
    wanted = reference(open_dataset(files / "images.npz"))
    parcel = shipping.pack(wanted)
    fetched = []
    for _ in range(2):
        shipping.unpack(wanted, "abc", lambda: fetched.append(1) or parcel, tmp_path)
    assert len(fetched) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["abc"]


def test_what_is_too_large_must_be_shared(files, monkeypatch):
    monkeypatch.setattr(shipping, "MOST_BYTES", 100)
    with pytest.raises(DataError, match="every machine of the cluster shares"):
        shipping.pack(reference(open_dataset(files / "images.npz")))


def test_a_file_that_has_changed_is_refused(files, tmp_path):
    classifier = load(files / "net_0.safetensors", trust=True)
    wanted = reference(classifier)
    changed = wanted.model_copy(update={"path": str(files / "net_1.safetensors")})
    with pytest.raises(ModelError, match="has changed since"):
        LoadedCache("cpu").models(
            Request(analysis="zonnscan", models=(changed,)),
            frozenset({load(files / "net_1.safetensors", trust=True).ran}),
        )
    gone = wanted.model_copy(update={"path": str(tmp_path / "gone")})
    with pytest.raises(ModelError, match="no longer at"):
        LoadedCache("cpu").models(Request(analysis="zonnscan", models=(gone,)))
