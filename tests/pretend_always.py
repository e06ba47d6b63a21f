"""For a worker process: imported first, it has the pretended devices for good."""

from __future__ import annotations

from contextlib import ExitStack

from tests.pretend_device import pretending

_ALWAYS = ExitStack()
_ALWAYS.enter_context(pretending())
