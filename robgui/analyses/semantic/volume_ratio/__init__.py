"""Regions that grow as far as the class survives, and SRVR."""
