"""VNN-LIB: properties for verifiers of other makers, about the raw inputs and outputs of ONNX."""
