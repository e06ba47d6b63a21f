"""What the model looks at: which parts of a picture support its answer."""
