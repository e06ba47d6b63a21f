"""Checks what reads files: OpenCV for pictures, onnxruntime and scikit-learn for models."""

from __future__ import annotations

import importlib.util

from robgui.doctor.check import Check, probe, version


def check_opencv() -> Check:
    """Checks that OpenCV is the build without its own window system."""
    rivals = [name for name in ("opencv-python", "opencv-contrib-python") if version(name)]
    if rivals:
        return Check(
            "opencv",
            "FAIL",
            f"{' and '.join(rivals)} brings a Qt of its own that disturbs PySide6; replace it: pip"
            f" uninstall -y {' '.join(rivals)} && pip install --force-reinstall --no-deps"
            " opencv-python-headless",
        )
    found, error = probe("opencv")
    if found is None:
        return Check("opencv", "FAIL", f"OpenCV cannot be imported: {error}")
    if found["gui"].startswith("QT"):
        return Check(
            "opencv",
            "WARN",
            f"OpenCV {found['version']} has windows of its own ({found['gui']}), which may disturb"
            " PySide6.",
        )
    return Check("opencv", "OK", f"OpenCV {found['version']} without windows of its own.")


def check_onnx() -> Check:
    """Checks that ONNX files can be read."""
    # Missing is a choice, and only worth a warning; broken is not.
    if not importlib.util.find_spec("onnxruntime"):
        return Check(
            "onnx", "WARN", "ONNX files cannot be opened until you run: pip install 'robgui[onnx]'"
        )
    found, error = probe("onnx")
    if found is None:
        return Check("onnx", "FAIL", f"onnxruntime cannot be imported: {error}")
    providers = ", ".join(name.removesuffix("ExecutionProvider") for name in found["providers"])
    return Check("onnx", "OK", f"onnxruntime {found['version']} with {providers}.")


#: Extra -> package that it brings, and what that opens.
_FURTHER = {
    "hf": ("transformers", "Hugging Face folders"),
    "keras": ("keras", "Keras files"),
    "tflite": ("ai-edge-litert", "TensorFlow Lite files"),
    "timm": ("timm", "networks of timm and torchvision"),
}


def check_further_formats() -> Check:
    """Says which rarer model formats can be read, and which extras add the others."""
    found = {extra: version(package) for extra, (package, _) in _FURTHER.items()}
    there = [f"{_FURTHER[extra][0]} {number}" for extra, number in found.items() if number]
    lacking = [f"{_FURTHER[extra][1]} (robgui[{extra}])" for extra in found if not found[extra]]
    if there:
        words = f"{', '.join(there)}."
    else:
        words = ""
    if lacking:
        more = f"To open {', '.join(lacking)}, install the extra."
    else:
        more = ""
    return Check("model formats", "OK", f"{words} {more}".strip())


def check_sklearn() -> Check:
    """Checks that scikit-learn files can be read."""
    if not (importlib.util.find_spec("skops") and importlib.util.find_spec("sklearn")):
        return Check(
            "scikit-learn",
            "WARN",
            "Scikit-learn models (.skops) cannot be opened until you run: pip install"
            " 'robgui[sklearn]'",
        )
    found, error = probe("sklearn")
    if found is None:
        return Check("scikit-learn", "FAIL", f"skops cannot be imported: {error}")
    return Check("scikit-learn", "OK", f"scikit-learn {found[0]} and skops {found[1]}.")
