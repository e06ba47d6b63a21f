"""News of claims that are computed in another process."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import cast

import pytest

from robgui.reproduce import remote
from robgui.reproduce.claim import Claim, Setting
from robgui.reproduce.remote import ClaimNews, Reproduction
from tests.patience import LONGEST

CLAIM = Claim("small", "It holds", "1", "1", True)


class Late:
    """News whose first reader gives up just before the last claim and the end of all come."""

    def __init__(self) -> None:
        self.held: queue.SimpleQueue[ClaimNews] = queue.SimpleQueue()
        self.put, self.get_nowait = self.held.put, self.held.get_nowait
        self.asked = threading.Event()
        self._before = set(threading.enumerate())

    def get(self, timeout: float) -> ClaimNews:
        if self.asked.is_set():
            return self.held.get_nowait()
        self.asked.set()
        for thread in set(threading.enumerate()) - self._before:
            thread.join(LONGEST)
        raise queue.Empty


def test_a_claim_made_just_before_a_problem_is_handed_out_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late = Late()

    def claims_of(method: str) -> Callable[[Setting], Iterator[Claim]]:
        def claims(setting: Setting) -> Iterator[Claim]:
            late.asked.wait(LONGEST)
            yield CLAIM
            raise SystemExit(f"left while {method} was computed")

        return claims

    monkeypatch.setattr(remote, "claims_of", claims_of)
    work = Reproduction("small", Setting(), cast("queue.SimpleQueue[ClaimNews]", late))
    assert work.news() == []
    (told,) = work.news()
    assert told.claim is not None and told.claim.statement == CLAIM.statement
    with pytest.raises(SystemExit, match="small"):
        work.news()
