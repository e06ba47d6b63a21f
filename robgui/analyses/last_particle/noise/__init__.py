"""The noise around an input as a function of a Gaussian point, and the score it changes."""
