"""What opening a model file would run, and its digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A Python file that would run.

    Attributes:
        path: Where it lies.
        text: Its content, as it was hashed.
    """

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """Everything that opening a model would run.

    Attributes:
        digest: SHA-256 of all of it; the same wherever the files lie.
        model: The model file.
        architecture: The call that builds the network, word for word; empty without one.
        sources: The Python files that come with the model.
        imports: What a pickle in the file imports and calls, dotted.
        listed: Whether ``imports`` is all of that; a part of some pickles cannot be read without
            running them.
    """

    digest: str
    model: Path
    architecture: str = ""
    sources: tuple[SourceFile, ...] = ()
    imports: tuple[str, ...] = ()
    listed: bool = True

    @property
    def what(self) -> str:
        """One line for the list of trusted code."""
        if self.architecture:
            return f"{self.model}, {self.architecture}"
        return str(self.model)


def digest_of(model: str, side: bytes, call: str, sources: Mapping[str, bytes]) -> str:
    """The digest of a model (its SHA-256), its side file, the call that builds it, and its code."""
    # As JSON, where every part is delimited: simply joined, a byte moved from one part to the next
    # would leave the digest as it was.
    parts = {
        "model": model,
        "side": hashlib.sha256(side).hexdigest(),
        "call": call,
        "sources": {name: hashlib.sha256(content).hexdigest() for name, content in sources.items()},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
