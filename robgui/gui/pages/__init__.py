"""The pages that belong to no method: welcome, overview, compare, batch, manual."""
