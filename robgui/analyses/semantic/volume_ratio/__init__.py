"""SRVR: the share of the semantic space in which a network keeps the class."""
