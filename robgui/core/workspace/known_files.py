"""The models and data used in a workspace: where they are, and which were last in use."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, Literal

from robgui.core.errors import WorkspaceError
from robgui.core.execution.request import Reference, Request
from robgui.core.workspace.database import Database
from robgui.core.workspace.rows import Reader
from robgui.core.workspace.values import StoredValues

_IN_USE = "in use"
_LOOKED_AT = "looked at"
_KINDS = ("model", "dataset")


class KnownFiles:
    """References to models and data, and the last choice of model, data and inputs.

    Args:
        database: The file.
        reader: Reads what is stored there, trusting nothing.
        values: Settings that are stored with it.
    """

    def __init__(self, database: Database, reader: Reader, values: StoredValues) -> None:
        self._database = database
        self._reader = reader
        self._values = values

    def references(
        self, kind: Literal["model", "dataset"], *, every: bool = False
    ) -> list[Reference]:
        """Models or datasets used so far, the last used first.

        Each file once, as it was last used, unless ``every`` is set: a model before and after a
        correction has two records of one file.
        """
        rows = self._database.rows(
            # rowid: two uses within one tick of the clock keep their order.
            "SELECT body FROM refs WHERE kind = ? ORDER BY used DESC, rowid DESC",
            (kind,),
        )
        found = [self._reader.reference(body) for (body,) in rows]
        if every:
            return found
        newest: dict[str, Reference] = {}
        for reference in found:
            # Rows come newest first, so the first record of a path is how it was last used.
            newest.setdefault(reference.path or reference.fingerprint, reference)
        return list(newest.values())

    def last_used(self) -> dict[str, float]:
        """When each model or dataset was used last, by its fingerprint."""
        rows = self._database.rows("SELECT fingerprint, used FROM refs")
        if not all(isinstance(name, str) and isinstance(used, int | float) for name, used in rows):
            self._reader.refuse("the time of a model or dataset", "it is no number")
        return dict(rows)

    def remember(self, reference: Reference) -> None:
        """Adds a reference, or moves it to the front."""
        with self._database.transaction() as connection:
            connection.execute(*remembering(reference))

    def relink(self, fingerprint: str, new_path: str | Path) -> Reference:
        """Records where a moved file is now.

        Runs that need it find it there, even those that used it with other settings.
        """
        known = [*self.references("model", every=True), *self.references("dataset", every=True)]
        wanted = next(
            (reference for reference in known if reference.fingerprint == fingerprint), None
        )
        if wanted is None:
            raise WorkspaceError(
                f"No model or dataset with fingerprint {fingerprint} is known in"
                f" {self._database.path}; open the file instead."
            )
        moved = {"path": str(Path(new_path).absolute())}
        # One file has a record per correction; all of them moved with it.
        same = [other for other in known if other.path == wanted.path and other is not wanted]
        with self._database.transaction() as connection:
            # The wanted one last: it then counts as the last used.
            for reference in (*same, wanted):
                connection.execute(*remembering(reference.model_copy(update=moved)))
        return wanted.model_copy(update=moved)

    def forget(self, fingerprint: str, path: str | Path | None = None) -> None:
        """Removes a reference, and all others of the same file, from the lists.

        Runs that used it stay.
        """
        known = [*self.references("model", every=True), *self.references("dataset", every=True)]
        paths = {other.path for other in known if other.fingerprint == fingerprint} | (
            {str(path)} if path else set()
        )
        gone = [
            other.fingerprint
            for other in known
            if other.fingerprint == fingerprint or (other.path and other.path in paths)
        ]
        with self._database.transaction() as connection:
            connection.executemany(
                "DELETE FROM refs WHERE fingerprint = ?", [(name,) for name in gone]
            )

    def in_use(self) -> tuple[Reference | None, Reference | None]:
        """The model and dataset last in use.

        If the workspace does not say, those of its newest run.
        """
        stored = self._values.get(_IN_USE)
        if isinstance(stored, dict):
            model, dataset = (
                self._reader.reference(json.dumps(stored[kind])) if stored.get(kind) else None
                for kind in _KINDS
            )
            return model, dataset
        # Workspaces of the first edition do not store what is in use.
        request = self._newest_request()
        if request is None:
            return None, None
        return request.models[0] if request.models else None, request.dataset

    def _newest_request(self) -> Request | None:
        newest = self._database.rows(
            "SELECT id, request FROM runs ORDER BY created DESC, rowid DESC LIMIT 1"
        )
        if newest:
            return self._reader.request(*newest[0])
        return None

    def set_in_use(self, model: Reference | None, dataset: Reference | None) -> None:
        """Records which model and dataset are in use."""
        pair = zip(_KINDS, (model, dataset), strict=True)
        self._values.set(
            _IN_USE,
            {kind: None if each is None else each.model_dump(mode="json") for kind, each in pair},
        )

    def looked_at(self) -> dict[str, int]:
        """The last chosen input in each data file, by the file's path.

        If the workspace does not say, that of its newest run.
        """
        stored = self._values.get(_LOOKED_AT)
        if isinstance(stored, dict):
            # type() and not isinstance: True is an int, and a workspace may come from anyone.
            return {path: at for path, at in stored.items() if type(at) is int and at >= 0}
        newest = self._newest_request()
        if newest is None or newest.dataset is None or newest.indices is None:
            return {}
        if len(newest.indices) == 1:
            return {newest.dataset.path: newest.indices[0]}
        return {}

    def set_looked_at(self, inputs: dict[str, int]) -> None:
        """Records which input of each data file is chosen."""
        self._values.set(_LOOKED_AT, inputs)


def remembering(
    reference: Reference, known: str = "UPDATE SET body = excluded.body, used = excluded.used"
) -> tuple[str, tuple[Any, ...]]:
    """The statement that stores a reference, and its values.

    ``known`` decides about an older record of it.
    """
    values = (reference.fingerprint, reference.kind, reference.model_dump_json(), time.time())
    return (
        (
            "INSERT INTO refs (fingerprint, kind, body, used) VALUES (?, ?, ?, ?) ON CONFLICT"
            f" (fingerprint) DO {known}"
        ),
        values,
    )
