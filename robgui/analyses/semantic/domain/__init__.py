"""The operating domain: how rarely a class is lost among the poses a user expects."""
