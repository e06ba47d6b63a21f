"""The game and its searches: states and moves, the model that is asked, the tree, the record."""
