"""Subjects: what a run is about, in words and in the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.dataset.derived import Derived
    from robgui.core.execution.request import Reference, Request
    from robgui.gui.state.store import Store


class Subjects:
    """Finds the model, the data and the inputs of a Request among what is open."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def inputs(self, request: Request) -> str:
        """Which inputs of which data: a single one as its file is called, where those are open."""
        from robgui.core.execution.likeness import inputs_in_words

        key = self.key(request)
        if key and request.dataset is not None:
            return f"{key} of {request.dataset.name}"
        return inputs_in_words(request)

    def key(self, request: Request) -> str:
        """What the single input of a request is called; empty for none or several, or a number."""
        if request.indices is None or len(request.indices) != 1:
            return ""
        found = self.locate(request, 0)
        if found is None:
            return ""
        key = found[0].key(found[1])
        # A number is no name: it would read as another input's.
        return "" if key == str(found[1]) else key

    def words(self, request: Request, *, by_name: bool = True) -> str:
        """Which model on which input: every picture says what it shows.

        A derived input with its trail.

        Args:
            request: What was asked.
            by_name: Whether a single input is called as its file is; else by its number.
        """
        from robgui.core.execution.request import subject

        wanted = request.dataset
        if by_name and wanted is not None and "derived" not in wanted.options:
            key = self.key(request)
            if key:
                models = ", ".join(model.name for model in request.models)
                return f"{models} on {key} of {wanted.name}"
        if wanted is not None and "derived" in wanted.options:
            derived = self.dataset_of(request)
        else:
            derived = None
        items: tuple[Derived, ...] = getattr(derived, "items", ())
        return subject(request, items)

    def in_use(self, request: Request) -> bool:
        """Whether a request is of the model and the data in use; if of one input, of that in use.

        A scene needs no data: it counts for the model.
        """
        store = self._store
        known, model = store.analyses.get(request.analysis), store.library.model
        if known is None or model is None or request.place_of(model.fingerprint) is None:
            return False
        if request.dataset is None:
            return True
        here = self.locate(request, 0)
        if here is None or here[0] is not store.library.dataset:
            return False
        return known.inputs != "one" or here[1] == store.selection.input

    def choose(self, request: Request, place: int, origin: object = None) -> bool:
        """Chooses an input of a run in the gallery; says so when its data are not open."""
        found = self.locate(request, place)
        if found is None:
            if request.dataset is not None:
                name = request.dataset.name
            else:
                name = "The data of this run"
            self._store.say(
                "warning", f"{name} is not open; open it to see this input in the gallery."
            )
            return False
        dataset, index = found
        if dataset is not self._store.library.dataset:
            self._store.library.use_dataset(dataset)
        self._store.select(self._store.selection.replace(input=index), origin=origin)
        return True

    def point_at(self, request: Request, follow: bool = True) -> None:
        """Model, data and inputs of a run come back with its picture, as far as they are loaded.

        Args:
            request: Of the run.
            follow: Otherwise the pair in use and the chosen input stay; a run of that pair brings
                its filter along.
        """
        library = self._store.library
        model = library.model
        # Of several models the one in use stays in use.
        if model is None or request.place_of(model.fingerprint) is None:
            first = request.models[0].fingerprint if request.models else ""
            model = next((one for one in library.models if one.fingerprint == first), None)
        place = self.locate(request, 0)
        if not follow and (
            model is not library.model or (place is not None and place[0] is not library.dataset)
        ):
            return
        # Data first: choosing a model afterwards must not replace them by others that fit it.
        if place is not None and place[0] is not library.dataset:
            library.use_dataset(place[0])
        if model is not None and model is not library.model:
            library.use_model(model)
        if place is None or place[0] is not library.dataset:
            return
        derived = request.dataset is not None and "derived" in request.dataset.options
        known = self._store.analyses.get(request.analysis)
        if not derived and known is not None and known.inputs == "many":
            # A first look at a few of all leaves Run to look at all of them.
            if not self._store.inspection.is_short(request):
                self._store.set_scope(request.indices)
        elif follow and derived:
            self._store.select(self._store.selection.replace(input=place[1], second=None))
        # A Selection has room for two.
        elif follow and request.indices and len(request.indices) <= 2:
            if len(request.indices) == 2:
                second = request.indices[1]
            else:
                second = None
            self._store.select(
                self._store.selection.replace(input=request.indices[0], second=second)
            )

    def dataset_of(self, request: Request) -> Dataset | None:
        """The data of a request, if they are open; of derived inputs exactly those it asks for."""
        wanted = request.dataset
        if wanted is None:
            return None
        for dataset in self._store.library.datasets:
            if dataset.fingerprint == wanted.fingerprint:
                return dataset
        family, places = self._family_of(wanted)
        return None if family is None else family.only(places)  # type: ignore[attr-defined]

    def locate(self, request: Request, place: int) -> tuple[Dataset, int] | None:
        """Where input number ``place`` of a request stands now: which open data, which index.

        None when it is not open.
        """
        wanted = request.dataset
        if wanted is None:
            return None
        if request.indices is None:
            index = place
        else:
            index = request.indices[place]
        for dataset in self._store.library.datasets:
            if dataset.fingerprint == wanted.fingerprint:
                return dataset, index
        family, places = self._family_of(wanted)
        if family is None:
            return None
        return (family, places[index])

    def _family_of(self, wanted: Reference) -> tuple[Dataset | None, list[int]]:
        """The gallery that holds the derived inputs of a reference, and where in it they are."""
        ids = wanted.options.get("derived")
        for dataset in self._store.library.datasets:
            known = dataset.options.get("derived")
            # A family grows with everything sent to it; the request knows what there was at its
            # time.
            if isinstance(ids, list) and isinstance(known, list) and set(ids) <= set(known):
                return dataset, [known.index(number) for number in ids]
        return None, []
