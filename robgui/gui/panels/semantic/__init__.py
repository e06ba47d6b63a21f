"""The panels of semantic maps, regions and SRVR."""
