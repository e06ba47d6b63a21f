"""What the window knows: the Store and what stands behind it; no widgets."""
