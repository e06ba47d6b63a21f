"""VNN-LIB: properties for other verifiers, about the raw inputs and outputs of ONNX models."""
