"""Exports the corrupted pictures of a run: one NPZ file, or folders of PNG pictures.

They are made again, from the same seeds, by the process that holds the models. A manifest beside
them says how each was made.
"""

from __future__ import annotations

import csv
import json
import secrets
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from robgui.analyses.corruptions.params import CorruptionsParams, picture_seed
from robgui.analyses.corruptions.result import CorruptionsResult
from robgui.core.dataset.matching import align, inputs, match
from robgui.core.errors import DataError
from robgui.core.execution.export import Origin
from robgui.core.files import write_whole
from robgui.core.text.words import count
from robgui.version import __version__

#: Pictures made per question.
_TOGETHER = 64
_MANIFEST = "manifest.json"
# Forbidden in file names by Windows.
_NO_FOLDER = set('/\\:*?"<>|')


@dataclass(frozen=True)
class _Corrupted:
    """Pictures of one kind and severity.

    Attributes:
        kind: As the settings name it.
        severity: From 1 to 5.
        places: Their numbers among the inputs of the run.
        seeds: Of the random numbers, for each.
        x: ``(n, c, h, w)`` float32 in [0, 1].
        labels: Their classes.
    """

    kind: str
    severity: int
    places: list[int]
    seeds: list[int]
    x: np.ndarray
    labels: np.ndarray


class _Set:
    """The corrupted pictures of a run, made a few at a time."""

    def __init__(
        self, result: CorruptionsResult, params: CorruptionsParams, origin: Origin
    ) -> None:
        self._model = match(origin.model, origin.data, lambda words: None)
        self._data, self._ask = align(self._model, origin.data), origin.ask
        self._params = params
        self.places = [int(place) for place in result.places]
        self.kinds = params.seen(self._model.shape[0])
        self.names = tuple(self._model.labels)
        if self._data.labels is None or not self.places:
            raise DataError(
                f"{origin.data.name} has no labelled picture that was corrupted; run the"
                " corruptions on pictures with labels."
            )
        self.labels = self._data.labels[self.places]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of all pictures together."""
        ways = len(self.kinds) * len(self._params.severities)
        return (ways * len(self.places), *self._model.shape)

    def ways(self) -> Iterator[tuple[str, int]]:
        """Every kind with every severity."""
        return product(self.kinds, self._params.severities)

    def parts(self) -> Iterator[_Corrupted]:
        """All pictures: kind by kind, severity by severity, in the order of the run."""
        for (kind, severity), start in product(self.ways(), range(0, len(self.places), _TOGETHER)):
            places = self.places[start : start + _TOGETHER]
            seeds = [picture_seed(self._params.seed, kind, severity, place) for place in places]
            x = self._ask(
                "corrupted",
                topic="export",
                x=inputs(self._model, self._data, places),
                kind=kind,
                severity=severity,
                seeds=seeds,
            )
            labels = self.labels[start : start + _TOGETHER]
            yield _Corrupted(kind, severity, places, seeds, np.asarray(x, np.float32), labels)

    def name(self, place: int) -> str:
        """What an input is called."""
        return str(self._data.key(place))


def write(result: CorruptionsResult, params: CorruptionsParams, origin: Origin, place: Path) -> str:
    """Writes the corrupted pictures, their labels and a manifest; says what is where.

    A name that ends in ``.npz`` is one file with the exact values, its manifest beside it; any
    other is a folder, with a folder of class folders of PNG pictures for each kind and severity.
    """
    made = _Set(result, params, origin)
    try:
        if place.suffix.casefold() == ".npz":
            manifest = place.with_name(f"{place.stem}.{_MANIFEST}")
            rows = _write_npz(made, place)
        else:
            manifest = place / _MANIFEST
            rows = _write_folders(made, place)
        about = _about(result, params, origin, made)
        text = json.dumps({**about, "pictures": rows}, indent=1, ensure_ascii=False)
        # Last: a manifest says that the pictures beside it are complete.
        write_whole(manifest, text.encode())
    except OSError as error:
        raise DataError(
            f"{place} cannot be written ({error.strerror}); choose another place."
        ) from error
    return (
        f"{count(len(rows), 'corrupted picture')} written to {place}; {manifest.name} says how each"
        " was made."
    )


def _about(
    result: CorruptionsResult, params: CorruptionsParams, origin: Origin, made: _Set
) -> dict[str, Any]:
    """What holds for all pictures."""
    accuracy = result.accuracy(0)
    return {
        "program": f"robgui {__version__}",
        "data": origin.data.name,
        "data_fingerprint": origin.data.fingerprint,
        "model": origin.model.name,
        "shape": list(origin.model.shape),
        "classes": list(made.names),
        "seed": params.seed,
        "inputs": len(made.places),
        "accuracy": {
            kind: {
                str(severity): float(accuracy[at, column])
                for column, severity in enumerate(result.severities)
            }
            for at, kind in enumerate(made.kinds)
        },
        "clean_accuracy": result.clean_accuracy(0),
    }


def _row(part: _Corrupted, at: int, made: _Set, **more: Any) -> dict[str, Any]:
    """How one picture was made."""
    return {
        "kind": part.kind,
        "severity": part.severity,
        "seed": part.seeds[at],
        "input": part.places[at],
        "name": made.name(part.places[at]),
        "label": made.names[int(part.labels[at])],
        **more,
    }


def _write_npz(made: _Set, place: Path) -> list[dict[str, Any]]:
    """Writes pictures ``x``, labels ``y``, class ``names``, and each one's kind, severity and seed.

    The pictures are written to disk as they are made: all of them may not fit into memory.
    """
    part = place.with_name(f".{secrets.token_hex(8)}.part")
    rows: list[dict[str, Any]] = []
    try:
        # Stored, as numpy.savez does: noisy pictures in single precision hardly shrink.
        with zipfile.ZipFile(part, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
            with archive.open("x.npy", "w", force_zip64=True) as file:
                # The shape is known beforehand, so the header can precede pictures not yet made.
                header = {"descr": "<f4", "fortran_order": False, "shape": made.shape}
                np.lib.format.write_array_header_1_0(file, header)
                for batch in made.parts():
                    file.write(np.ascontiguousarray(batch.x, "<f4").tobytes())
                    rows += [
                        _row(batch, at, made, row=len(rows) + at) for at in range(len(batch.x))
                    ]
            for name, values in _columns(rows, made).items():
                with archive.open(f"{name}.npy", "w") as file:
                    np.lib.format.write_array(file, values, allow_pickle=False)
        # Under its name only when whole: a stopped export leaves no file that looks complete.
        part.replace(place)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return rows


def _columns(rows: Sequence[dict[str, Any]], made: _Set) -> dict[str, np.ndarray]:
    # Every way goes through all pictures in the same order.
    labels = np.tile(made.labels, len(rows) // max(1, len(made.labels)))
    return {
        "y": labels.astype(np.int64),
        "names": np.array(made.names),
        "kind": np.array([row["kind"] for row in rows]),
        "severity": np.array([row["severity"] for row in rows], dtype=np.int64),
        "seed": np.array([row["seed"] for row in rows], dtype=np.int64),
        "input": np.array([row["input"] for row in rows], dtype=np.int64),
    }


def _write_folders(made: _Set, folder: Path) -> list[dict[str, Any]]:
    """``kind-severity/class/number.png``; values are rounded to 256 steps, as in published sets."""
    import cv2

    folders = _class_folders(made)
    # Pictures of two exports in one folder could not be told apart.
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder} is there already; name a new or an empty folder.")
    for kind, severity in made.ways():
        _make_folders(folder / f"{kind}-{severity}", folders, made.names)
    rows: list[dict[str, Any]] = []
    for part in made.parts():
        for at, values in enumerate(part.x):
            own = folders[int(part.labels[at])]
            file = Path(f"{part.kind}-{part.severity}", own, f"{part.places[at]:06d}.png")
            # OpenCV writes blue, green, red; a single channel is not changed by the reversal.
            pixels = (values * 255).round().astype(np.uint8).transpose(1, 2, 0)[..., ::-1]
            written = cv2.imencode(".png", np.ascontiguousarray(pixels))[1]
            (folder / file).write_bytes(written.tobytes())
            rows.append(_row(part, at, made, file=file.as_posix()))
    return rows


def _make_folders(where: Path, folders: Sequence[str], names: Sequence[str]) -> None:
    """A folder for each class; if they are numbered, a table says which class each is."""
    for name in folders:
        (where / name).mkdir(parents=True)
    if tuple(folders) != tuple(names):
        with (where / "class_names.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("folder", "name"), *zip(folders, names, strict=True)])


def _class_folders(made: _Set) -> tuple[str, ...]:
    """The folder name of each class.

    Its own, or numbers for all if a class name cannot be a folder.
    """
    if made.shape[1] not in (1, 3):
        raise DataError(
            f"Pictures of {made.shape[1]} channels are no PNG files; name a file that ends in .npz."
        )
    folded = {name.casefold() for name in made.names}
    plain = (name.isprintable() and name.strip(" .") == name for name in made.names)
    # Windows folds case, drops trailing dots and spaces and forbids _NO_FOLDER;
    # exports should open there as well.
    if len(folded) == len(made.names) and all(plain) and not _NO_FOLDER & set("".join(folded)):
        return made.names
    # Of one width, so folders sort as the classes do.
    digits = len(str(len(made.names)))
    return tuple(f"{number:0{digits}d}" for number in range(len(made.names)))
