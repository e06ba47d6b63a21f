"""The operating domain: how rarely a class is lost among all the poses that a user expects."""
