"""Files that a command will write, and files of settings that it reads."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robgui.core.errors import ParamsError
from robgui.core.regular import read_regular

if TYPE_CHECKING:
    from robgui.core.execution.analysis import Analysis

#: Largest file that ``--out`` writes.
_LARGEST = 500_000_000


def writable(option: str, name: str | None) -> Path | None:
    """Checks before the work, not after it, that a file can be written at the end."""
    if name is None:
        return None
    path = Path(name)
    try:
        there = path.exists()
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        if not there or path.is_file():
            # Tried rather than asked: os.access is wrong about Windows' permissions and many
            # network shares. Appending leaves an existing file as it is.
            with path.open("ab"):
                pass
        if not there:
            path.unlink()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ParamsError(
            f"{option} {name}: it cannot be written there ({reason}); name a file in a folder that"
            " exists and may be written."
        ) from error
    return path


def settings_in(name: str, known: Analysis) -> dict[str, Any]:
    """Settings of an analysis, from a TOML or JSON file or a result of ``robgui run --out``."""
    from robgui.core.execution.params import text as params_text
    from robgui.core.execution.registry import find

    document = _document(Path(name))
    request = document.get("request")
    if isinstance(request, dict) and isinstance(request.get("params"), dict):
        if find(str(request.get("analysis"))).name != known.name:
            raise ParamsError(
                f"--params {name}: this is a result of {request.get('analysis')}, not of"
                f" {known.name}; choose another file."
            )
        document = request["params"]
    values = {field.replace("-", "_"): value for field, value in document.items()}
    return params_text.typed(known.params.model_fields, known.params.renamed(values))


def _document(path: Path) -> dict[str, Any]:
    from robgui.core.toml import parse_toml

    try:
        content = read_regular(path, _LARGEST)
        if path.suffix.casefold() == ".json":
            document = json.loads(content.decode("utf-8-sig"))
        else:
            document = parse_toml(content)
    except OSError as error:
        raise ParamsError(
            f"--params {path}: the file cannot be read ({error.strerror}); name a TOML or JSON"
            " file."
        ) from error
    except (ValueError, RecursionError) as error:  # Includes what tomllib and the decoder raise.
        raise ParamsError(
            f"--params {path}: this is no TOML or JSON file of settings ({error}); correct it."
        ) from error
    if not isinstance(document, dict):
        raise ParamsError(f"--params {path}: the file holds no settings; write name = value lines.")
    return document
