"""The small query language for inputs, used in the gallery and on the command line.

All listed conditions must hold. An empty query fits everything.

    label:stop        label=3      label!=cat    the class, by name, part of a name, or number
    predicted:coat                               what the model says
    confidence<0.6    margin<0.1   loss>2        how sure it is, and how wrong
    name~img_00       name=a.png   index<100     the item's name and place, counted from 0
    tag:night         finding:trap               what the user noted and what runs have found
    wrong  right  labelled  tagged  found  unreadable  unpredicted
    "no entry"                                   any other word: part of name, class or tag

``or``, ``not`` (or a leading ``-``), ``and`` and parentheses join conditions. ``:`` takes the whole
name if there is one and else a part of it, ``=`` the whole, ``~`` a part. A value with blanks
stands in quotes; after ``=``, ``!=`` and ``~`` it need not. Case does not matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robgui.core.dataset.query.evaluating import QueryMatch, evaluate
from robgui.core.dataset.query.expression import Expression, needs
from robgui.core.dataset.query.facts import InputFacts, Predicted
from robgui.core.dataset.query.parsing import parse

if TYPE_CHECKING:
    from robgui.core.dataset.dataset import Dataset

__all__ = [
    "Expression",
    "InputFacts",
    "Predicted",
    "QueryMatch",
    "evaluate",
    "needs",
    "parse",
    "select",
]


def select(dataset: Dataset, text: str) -> list[int]:
    """Indices of the items that match ``text``; DataError, one sentence, if it is not a query."""
    facts = InputFacts(
        len(dataset), dataset.name, dataset.keys, labels=dataset.labels, names=dataset.names
    )
    return [int(index) for index in np.flatnonzero(evaluate(parse(text), facts).yes)]
