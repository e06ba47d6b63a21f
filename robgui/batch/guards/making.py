"""make_guards: turns starred findings into tests, with nearby inputs the model gets right."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robgui.batch.guards.inputs import to_file
from robgui.batch.guards.pytest_file import TEST_FILE
from robgui.batch.guards.suite import INPUTS, Case, FoundOn, GuardSuite, write_suite
from robgui.core.dataset.classes import comparable_name
from robgui.core.errors import ParamsError, WorkspaceError
from robgui.core.execution.asking.witness import Witness, WitnessedInput, witnesses
from robgui.core.text.words import count
from robgui.version import __version__

if TYPE_CHECKING:
    from robgui.core.finding import StoredFinding
    from robgui.core.workspace import Workspace

#: Most inputs drawn from the data to find one control that the model gets right.
_DRAWS = 4


@dataclass
class Made:
    """What was written.

    Attributes:
        suite: The suite.
        left_out: Why a finding is no test, a sentence each.
    """

    suite: GuardSuite
    left_out: list[str]

    @property
    def words(self) -> str:
        """How many inputs of each sort it holds."""
        roles = [case.role for case in self.suite.cases]
        finding, original, control = (
            count(roles.count(role), role) for role in ("finding", "original", "control")
        )
        return f"{finding}, {original} and {control}"


def make_guards(
    workspace: Workspace,
    folder: Path,
    ask: Callable[..., Any],
    *,
    ids: Sequence[int] | None = None,
    controls: int = 50,
    seed: int = 0,
    trust: bool | Sequence[str] = False,
) -> Made:
    """Writes a guard suite.

    Args:
        workspace: Where the findings are.
        folder: Where to write; what the suite does not name in it stays as it is.
        ask: Asks whoever holds the models, as ``Models.ask``.
        ids: Which findings; by default the starred ones.
        controls: How many inputs of each dataset that the model has right are guarded too.
        seed: Which ones are drawn.
        trust: The model files may execute code when they are read: any, or that of these digests.

    Raises:
        ParamsError: No finding can become a test.
    """
    if ids is None:
        chosen = [one.id for one in workspace.findings() if one.starred]
    else:
        chosen = list(ids)
    if not chosen:
        raise ParamsError("No finding is starred; star those that must not come back.")
    drawn = _Drawing(folder)
    for witness in witnesses(workspace, [workspace.finding(one) for one in chosen], ask, trust):
        for seen in list(witness.findings()):
            drawn.add_finding(witness, seen)
        drawn.left_out += witness.left_out
        for data in witness.sources():
            # Every source starts from the seed: starring a finding elsewhere moves no control here.
            drawn.add_controls(witness, data, controls, np.random.default_rng(seed))
    return drawn.write()


@dataclass
class _Drawing:
    """Cases as they come about."""

    folder: Path
    cases: list[Case] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    heads: dict[tuple[object, ...], Witness] = field(default_factory=dict)
    models: dict[str, FoundOn] = field(default_factory=dict)

    def add_finding(self, witness: Witness, seen: WitnessedInput) -> None:
        """Adds the finding and, if the model gets it right, the input it was made from."""
        finding = seen.finding
        if seen.given == seen.expected:
            self.left_out.append(
                f"{finding.title}: {witness.card.name} has it right as it is stored, so there is"
                " nothing to fix."
            )
            return
        name = self._add(witness, seen, "finding", finding)
        original = witness.original(seen)
        # An original that is wrong already guards nothing.
        if original is not None and original.given == original.expected:
            self._add(witness, original, "original", finding, of=name)

    def add_controls(
        self, witness: Witness, data: Any, most: int, generator: np.random.Generator
    ) -> None:
        """Adds random inputs of the same data that the model gets right."""
        # A model that is nearly always wrong must not have all of its data read.
        order = generator.permutation(len(data.dataset))[: _DRAWS * most]
        # Data sets hold the same picture twice; a second case of it would test nothing new.
        taken, known = 0, {case.sha256 for case in self.cases}
        for start in range(0, len(order), max(1, most)):
            for seen in witness.asked(data, order[start : start + most]):
                fresh = hashlib.sha256(to_file(seen.x, witness.card.kind)[1]).hexdigest()
                if taken < most and seen.given == seen.expected and fresh not in known:
                    self._add(witness, seen, "control")
                    known.add(fresh)
                    taken += 1

    def _add(
        self,
        witness: Witness,
        seen: WitnessedInput,
        role: Any,
        finding: StoredFinding | None = None,
        of: str = "",
    ) -> str:
        card = witness.card
        ending, content = to_file(seen.x, card.kind)
        labels = card.labels
        if role == "finding":
            confused = ["not", labels[seen.given]]
        else:
            confused = []
        spoken = [labels[seen.expected], *confused]
        name = f"{len(self.cases) + 1:03d}-{role}-{_slug('-'.join(spoken))}".strip("-")
        file = f"{INPUTS}/{name}{ending}"
        self.contents[file] = content
        said: dict[str, Any] = {"title": f"{seen.source}: “{labels[seen.expected]}”"}
        if finding is not None and role == "finding":
            said = {
                "title": finding.title,
                "kind": finding.kind,
                "severity": min(1.0, max(0.0, finding.severity)),
                "note": finding.note,
                "analysis": witness.analysis(finding),
            }
        self.heads.setdefault(_head(witness), witness)
        self.models[card.fingerprint] = FoundOn(name=card.name, fingerprint=card.fingerprint)
        self.cases.append(
            Case(
                name=name,
                role=role,
                file=file,
                sha256=hashlib.sha256(content).hexdigest(),
                expected=labels[seen.expected],
                given=labels[seen.given],
                by=seen.by,
                of=of,
                model=card.fingerprint,
                source=seen.source,
                **said,
            )
        )
        return name

    def write(self) -> Made:
        if not any(case.role == "finding" for case in self.cases):
            if self.left_out:
                why = f" {self.left_out[0]}"
            else:
                why = ""
            raise ParamsError(f"None of these findings can become a test.{why}")
        if len(self.heads) > 1:
            names = ", ".join(sorted(model.name for model in self.models.values()))
            raise WorkspaceError(
                f"The findings are about models with different inputs or classes ({names}); star"
                " those of one model and make one guard suite for each."
            )
        card = next(iter(self.heads.values())).card
        self.cases.sort(key=lambda case: ("finding", "original", "control").index(case.role))
        suite = GuardSuite(
            robgui=__version__,
            kind=card.kind,
            shape=tuple(card.shape),
            labels=tuple(card.labels),
            low=tuple(card.settings.low),
            high=tuple(card.settings.high),
            models=tuple(self.models.values()),
            cases=tuple(self.cases),
            folder=self.folder,
        )
        write_suite(suite, self.contents, TEST_FILE)
        return Made(suite, self.left_out)


def _head(witness: Witness) -> tuple[object, ...]:
    """What all inputs of one suite have in common."""
    card = witness.card
    names = tuple(comparable_name(label) for label in card.labels)
    return card.kind, tuple(card.shape), names, card.settings.low, card.settings.high


def _slug(text: str) -> str:
    """A name that every file system accepts."""
    # Class names may hold slashes, colons or other scripts; with its number it is unique even if
    # empty.
    return re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")[:60]
