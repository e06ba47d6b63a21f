"""The address of a Ray cluster, looked at before Ray is: Ray itself waits long and says little
about a wrong one.
"""

from __future__ import annotations

import re
import socket

from robgui.core.errors import ParamsError

#: What may be said instead of an address: a running cluster or a new one, or always a new one on
#: this machine.
WORDS = ("auto", "local")
#: A cluster in reach answers within this time.
_ANSWER_SECONDS = 5.0
_ADDRESS = re.compile(r"(?:(?P<host>[\w.-]+)|\[(?P<six>[0-9a-fA-F:.]+)\]):(?P<port>\d{1,5})")
_EXAMPLE = "such as 10.0.0.5:6379"


def read_address(text: str) -> tuple[str, int] | None:
    """Host and port of a cluster, None for ``auto`` and ``local``; a sentence for anything else."""
    if text in WORDS:
        return None
    if text.startswith("ray://"):
        raise ParamsError(
            f"{text} is the address of a Ray Client, which cannot stream results; run robgui on a"
            f" machine of the cluster and give the address of its head, {_EXAMPLE}."
        )
    found = _ADDRESS.fullmatch(text)
    if found is None or not 0 < int(found["port"]) < 2**16:
        raise ParamsError(
            f"{text!r} is no address of a Ray cluster; write auto, local, or HOST:PORT of its head,"
            f" {_EXAMPLE}."
        )
    return found["host"] or found["six"], int(found["port"])


def check_answer(text: str) -> None:
    """Makes sure that something answers at the address; a sentence when nothing does."""
    place = read_address(text)
    if place is None:
        return
    try:
        socket.create_connection(place, timeout=_ANSWER_SECONDS).close()
    except OSError as error:
        why = error.strerror or "no answer in time"
        raise ParamsError(
            f"There is no Ray cluster at {text} ({why}); check the address, and whether its head is"
            " running."
        ) from error
