"""A request carried out in the test's own thread."""

from __future__ import annotations

from collections.abc import Sequence

from robgui.core.dataset import Dataset
from robgui.core.execution.execution import Execution
from robgui.core.execution.inline import Steps
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.request import Request
from robgui.core.model.classifier import Classifier
from robgui.core.workspace import Workspace


def steps(
    request: Request,
    workspace: Workspace | None = None,
    models: Sequence[Classifier] = (),
    dataset: Dataset | None = None,
) -> Steps:
    """The Steps of ``request`` on these models and data; what is not given is loaded."""
    datasets = () if dataset is None else (dataset,)
    return Steps(
        Execution(request, workspace),
        LoadedCache(workspace=workspace, models=models, datasets=datasets),
    )
