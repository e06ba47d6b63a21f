"""Maps of the score over semantic parameters, and their traps."""
