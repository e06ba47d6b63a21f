"""The formats that data come in, one small module each."""
