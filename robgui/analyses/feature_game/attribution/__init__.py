"""What the model looks at: which parts of a picture speak for its answer."""
