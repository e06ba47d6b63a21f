"""path -> Classifier; code in the file runs only if the user has allowed it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robgui.core.errors import ModelError, TrustError
from robgui.core.execution.params.text import typed
from robgui.core.model.class_names import with_names_read
from robgui.core.model.settings import ModelSettings, read_side_file, side_text
from robgui.core.trust.store import is_trusted
from robgui.core.trust.store import trust as trust_code

if TYPE_CHECKING:
    import torch

    from robgui.core.model.classifier import Classifier
    from robgui.core.trust.code import Code
    from robgui.core.trust.snapshot import Snapshot


def load(
    path: str | Path,
    *,
    trust: bool | Collection[str] = False,
    device: str | torch.device | None = None,
    **overrides: Any,
) -> Classifier:
    """Loads a model file as a Classifier.

    What ``overrides`` leave open is taken from the side file ``<model>.toml``, then from the file
    itself, then guessed; the classifier's ``remarks`` say what was found and guessed. A file that
    would execute code is loaded from a private copy, and only if its code is trusted; TrustError
    tells what it would run.

    Args:
        path: The file; its format is told from its content.
        trust: True says that the file may execute code (pickled networks, architecture files) as it
            is now; digests say which code may run; what the user has trusted before may in any
            case.
        device: Where to run; CUDA when present if not given.
        overrides: Fields of ModelSettings, also as texts: ``shape="3,32,32"``; ``labels`` may also
            be the name of a file of class names.
    """
    from robgui.core.loading.loader import load as read

    path = Path(path).expanduser()
    overrides = _typed(overrides)
    try:
        # Untrusted at first: most files run nothing, and need no copy. One that would is refused
        # before it does.
        return read(path, device=device, **overrides)
    except TrustError as refusal:
        given = {**read_side_file(path), **with_names_read(overrides, path.parent)}
        snapshot = _snapshot(path, str(given.get("architecture", "")))
        digest = snapshot.code.digest
        if trust is not True and digest not in (trust or ()) and not is_trusted(digest):
            snapshot.discard()
            raise TrustError(str(refusal), snapshot.code) from refusal
        return _run(snapshot, path, device, given)


def _typed(overrides: dict[str, Any]) -> dict[str, Any]:
    """Settings given as texts; one for ``labels`` is a file name."""
    names = {name: value for name, value in overrides.items() if name == "labels"}
    return {**typed(ModelSettings.model_fields, overrides), **names}


def what_runs(path: Path, **overrides: Any) -> Code:
    """What loading a model with these settings would run; nothing is run."""
    snapshot = _snapshot(path, str({**read_side_file(path), **overrides}.get("architecture", "")))
    snapshot.discard()
    return snapshot.code


def code_of(path: Path, **overrides: Any) -> str:
    """The digest of what loading a model with these settings would run."""
    return what_runs(path, **overrides).digest


def renew(path: Path, ran: str, settings: ModelSettings) -> None:
    """Keeps trusting a model whose side file the user has just written from the window.

    Trust is renewed only if nothing else about the model changed.

    Args:
        path: The model file.
        ran: The digest that was trusted when it was loaded; if empty, nothing happens.
        settings: What the side file says from now on.
    """
    if not ran:
        return
    snapshot = _snapshot(path, settings.architecture)
    snapshot.discard()
    if snapshot.with_side(snapshot.side) == ran and is_trusted(ran):
        trust_code(snapshot.with_side(side_text(settings).encode()), snapshot.code.what)


def _snapshot(path: Path, architecture: str) -> Snapshot:
    from robgui.core.trust.snapshot import Snapshot

    return Snapshot(path, architecture)


def _run(snapshot: Snapshot, path: Path, device: Any, given: dict[str, Any]) -> Classifier:
    """Loads from the copy and names the result after the original."""
    from robgui.core.loading.loader import load as read

    if snapshot.architecture:
        settings = {**given, "architecture": snapshot.architecture}
    else:
        settings = given
    try:
        with snapshot.importable(), _speaking_of(snapshot, path):
            classifier = read(snapshot.model, trust=True, device=device, **settings)
    except BaseException:
        snapshot.discard()
        raise
    # The caller named a file of theirs; the path of the private copy must not reach a side file.
    if snapshot.architecture != snapshot.code.architecture:
        classifier = classifier.with_settings(
            classifier.settings.change(architecture=snapshot.code.architecture)
        )
    classifier.path, classifier.ran = path, snapshot.code.digest
    snapshot.keep_code()
    return classifier


@contextmanager
def _speaking_of(snapshot: Snapshot, path: Path) -> Iterator[None]:
    """Makes errors name the user's files, not the copies."""
    try:
        yield
    except ModelError as error:
        words = str(error).replace(str(snapshot.model), str(path))
        if snapshot.architecture:
            words = words.replace(snapshot.architecture, snapshot.code.architecture)
        # Files before folders: their copied paths begin with the folders replaced below.
        for source in snapshot.code.sources:
            words = words.replace(
                str(snapshot.folder / "code" / source.path.name), str(source.path)
            )
        for folder in (snapshot.model.parent, snapshot.folder):
            words = words.replace(str(folder), str(path.parent))
        error.args = (words,)
        raise
