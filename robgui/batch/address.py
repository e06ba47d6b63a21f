"""Checks the address of a Ray cluster before Ray does: Ray waits long and says little."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable

from robgui.core.errors import ParamsError

#: Words instead of an address: a running cluster or a new one, or always a new one on this machine.
WORDS = ("auto", "local")
#: Seconds within which a reachable cluster answers.
_ANSWER_SECONDS = 5.0
_ADDRESS = re.compile(r"(?:(?P<host>[\w.-]+)|\[(?P<six>[0-9a-fA-F:.]+)\]):(?P<port>\d{1,5})")
_EXAMPLE = "such as 10.0.0.5:6379"
#: Ray replaces these by the machine's own address.
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def read_address(text: str) -> tuple[str, int] | None:
    """Host and port of a cluster, None for ``auto`` and ``local``.

    Raises one sentence for anything else.
    """
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


def check_answer(text: str, own: str = "") -> None:
    """Makes sure that something answers at the address; raises one sentence if nothing does.

    Args:
        text: The address.
        own: The address of this machine as Ray knows it: that is where Ray looks for a cluster of
            ``127.0.0.1``. Empty checks the address as it is written.
    """
    place = read_address(text)
    if place is None:
        return
    _knock(
        place,
        f"There is no Ray cluster at {text}",
        "check the address, and whether its head is running",
    )
    if own and place[0] in _LOOPBACK:
        there = f"{own}:{place[1]}"
        _knock(
            (own, place[1]),
            f"Ray looks for {text} at {there}, and nothing answers there",
            f"start its head with --node-ip-address={own}, or give the address it has",
        )


def within(seconds: float, work: Callable[[], object], text: str) -> None:
    """Connects to the cluster at the address ``text``.

    Raises one sentence if that takes longer than this.

    Ray tries for ever if something other than a cluster listens, and cannot be interrupted; its
    thread is left behind. If it succeeds after all, the next attempt finds the connection made.
    """
    problems: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised again below
            problems.append(error)

    thread = threading.Thread(target=run, name="connecting to Ray", daemon=True)
    thread.start()
    # A thread, since Ray's connecting cannot be interrupted from outside.
    thread.join(seconds)
    if thread.is_alive():
        raise ParamsError(
            f"Something answers at {text}, but no Ray cluster within {seconds:g} s; check the"
            " address, and whether its head is well."
        )
    if problems:
        raise problems[0]


def _knock(place: tuple[str, int], what: str, remedy: str) -> None:
    try:
        socket.create_connection(place, timeout=_ANSWER_SECONDS).close()
    except OSError as error:
        # A timeout is an OSError without words of the system.
        why = error.strerror or "no answer in time"
        raise ParamsError(f"{what} ({why}); {remedy}.") from error
