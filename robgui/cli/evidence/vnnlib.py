"""``robgui vnnlib``: writes a question for other verifiers, or reads one as an input."""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robgui.cli import Parser
from robgui.cli.places import add_model_options, check_places, data_options, model_settings
from robgui.core.errors import DataError, ModelError, ParamsError, WorkspaceError
from robgui.core.files import write_whole
from robgui.core.regular import read_regular

if TYPE_CHECKING:
    import numpy as np

    from robgui.batch.vnnlib.box import Ball
    from robgui.core.model.card import ModelCard

_LARGEST_PROPERTY, _LARGEST_MODEL = 500_000_000, 4_000_000_000
#: Time limit in seconds suggested to a verifier.
_TIMEOUT = 300


def vnnlib(words: list[str]) -> int:
    """Writes a property, or reads one."""
    given = parser().parse_args(words)
    check_places(["--model", given.model, *(["--data", given.data] if given.data else [])])
    if given.property:
        return _read(given)
    return _write(given)


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    made = Parser(
        prog="robgui vnnlib",
        description=(
            "Writes a folder with the ONNX model and a VNN-LIB property for other verifiers: no"
            " input within --radius of an input gets another class. With --property it reads one,"
            " and writes its input for an analysis of this program."
        ),
        allow_abbrev=False,
    )
    made.add_argument("out", help="the folder to write; with --property the .npy file of its input")
    made.add_argument("--model", required=True, metavar="FILE", help="the model, an ONNX file")
    made.add_argument("--data", metavar="PATH", help="the inputs")
    made.add_argument("--index", type=int, metavar="I", help="which input, by number from 0")
    made.add_argument(
        "--radius", type=float, metavar="X", help="each value moves by at most X, in [0, 1]"
    )
    made.add_argument("--workspace", metavar="FILE", help="where a finding is kept")
    made.add_argument(
        "--finding",
        type=int,
        metavar="N",
        help=(
            "a finding of the workspace, by its number in findings.csv: the box around its"
            " unchanged input that just holds it, or --radius"
        ),
    )
    made.add_argument("--property", metavar="FILE", help="a VNN-LIB file to read instead")
    add_model_options(made)
    return made


def _write(given: argparse.Namespace) -> int:
    from robgui.batch.vnnlib.box import to_property
    from robgui.batch.vnnlib.text import write
    from robgui.cli.opening import asking, computing, open_model
    from robgui.cli.printing import print_line

    _check_onnx(Path(given.model))
    with computing("VNN-LIB") as (executor, progress):
        ask = asking(executor)
        card = open_model(executor, given.model, given, model_settings(given), progress.say)
        ball, found = _ball(given, card, ask)
        outputs = ask("outputs", model=card)
        text = write(to_property(card, outputs, ball), _about(card, ball))
    folder, model = Path(given.out), Path(given.model)
    files = {
        model.name: read_regular(model, _LARGEST_MODEL),
        "property.vnnlib": text.encode(),
        # The list of VNN-COMP: model, property, seconds.
        "instances.csv": f"{model.name},property.vnnlib,{_TIMEOUT}\n".encode(),
    }
    if found is not None:
        files["counterexample.npy"] = _npy(found)
    _write_files(folder, files)
    if found is not None:
        known = "; counterexample.npy breaks it"
    else:
        known = ""
    print_line(
        # Nine digits tell every float32 from its neighbours.
        f"{folder}: {model.name} gives “{card.labels[ball.label]}” within {ball.radius:.9g} of"
        f" the input?{known}"
    )
    return 0


def _read(given: argparse.Namespace) -> int:
    from robgui.batch.vnnlib.box import from_property
    from robgui.batch.vnnlib.text import read
    from robgui.cli.opening import asking, computing, open_model
    from robgui.cli.printing import print_line

    try:
        text = read_regular(given.property, _LARGEST_PROPERTY).decode("utf-8", "replace")
    except OSError as error:
        raise ParamsError(
            f"--property {given.property}: it cannot be read ({error.strerror}); name a VNN-LIB"
            " file."
        ) from error
    found = read(text)
    with computing("VNN-LIB") as (executor, progress):
        card = open_model(executor, given.model, given, model_settings(given), progress.say)
        ball = from_property(card, asking(executor)("outputs", model=card), found)
    out = Path(given.out).with_suffix(".npy")
    _write_files(out.parent, {out.name: _npy(ball.centre[None])})
    print_line(
        f"{out}: “{card.labels[ball.label]}” within {ball.radius:.9g}. To look at it: robgui run"
        f" last-particle --model {given.model} --data {out} --index 0 --noise box --eps"
        f" {ball.radius:.9g}"
    )
    return 0


def _ball(
    given: argparse.Namespace, card: ModelCard, ask: Callable[..., Any]
) -> tuple[Ball, np.ndarray | None]:
    """The ball in question, and a counterexample if one is known."""
    if given.finding is not None:
        return _around_finding(given, ask)
    if given.data is None or given.index is None or given.radius is None:
        raise ParamsError("Say what it is about: --data, --index and --radius, or --finding.")
    from robgui.batch.vnnlib.box import Ball
    from robgui.core.dataset.matching import align, inputs, match
    from robgui.core.execution.asking.held import open_held

    dataset = open_held(Path(given.data), data_options(given), ask)
    if not 0 <= given.index < len(dataset):
        raise DataError(f"--index {given.index}: {dataset.name} has {len(dataset):,} inputs.")
    matched = match(card, dataset, lambda words: None)
    dataset = align(matched, dataset)
    x = inputs(matched, dataset, [given.index])
    if dataset.labels is None:
        label = -1
    else:
        label = int(dataset.labels[given.index])
    if label < 0:
        label = int(ask("scores", model=matched, x=x).probabilities[0].argmax())
    return Ball(x[0], _radius(given.radius), label), None


def _around_finding(
    given: argparse.Namespace, ask: Callable[..., Any]
) -> tuple[Ball, np.ndarray | None]:
    import numpy as np

    from robgui.batch.vnnlib.box import Ball
    from robgui.core.execution.asking.witness import witnesses
    from robgui.core.workspace import Workspace

    if given.workspace is None or not Path(given.workspace).exists():
        raise WorkspaceError("A finding is kept in a workspace; name it with --workspace.")
    with Workspace.open(given.workspace, create=False) as workspace:
        (witness,) = witnesses(workspace, [workspace.finding(given.finding)], ask, given.trust)
        seen = next(iter(witness.findings()), None)
        if seen is None:
            raise ParamsError(f"Finding {given.finding}: {witness.left_out[0]}")
        original = witness.original(seen)
    if original is None:
        centre = seen.x
    else:
        centre = original.x
    reach = float(np.abs(seen.x.astype(np.float64) - centre).max())
    if given.radius is None and reach == 0:
        raise ParamsError("The finding is wrong as it is; say how far around it with --radius.")
    # Slightly more: rounding must not push the finding out of its own box.
    if given.radius is None:
        radius = reach * (1 + 1e-6)
    else:
        radius = _radius(given.radius)
    inside = reach <= radius and seen.given != seen.expected
    return Ball(centre, radius, seen.expected), seen.x[None] if inside else None


def _radius(value: float) -> float:
    if not 0 < value <= 1:
        raise ParamsError(f"--radius {value}: write a number above 0 and up to 1.")
    return value


def _check_onnx(path: Path) -> None:
    from robgui.core.identify import Format, identify

    if identify(path).model is not Format.ONNX:
        raise ModelError(
            f"{path} is no ONNX file, which verifiers want; export it as ONNX, and name that."
        )


def _about(card: ModelCard, ball: Ball) -> str:
    names = " ".join(f"{name!r}" for name in card.labels[:20])
    return (
        f"{card.name!r}: class {ball.label} of {names} within {ball.radius:.9g} of an input.\n"
        "sat: some input of the box gets another class. unsat: none does."
    )


def _npy(x: np.ndarray) -> bytes:
    import numpy as np

    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(x, np.float32), allow_pickle=False)
    return buffer.getvalue()


def _write_files(folder: Path, files: dict[str, bytes]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            write_whole(folder / name, content)
    except OSError as error:
        raise ParamsError(
            f"{folder}: it cannot be written there ({error.strerror}); choose another place."
        ) from error
