"""The dialog for what the files of the data do not tell."""
