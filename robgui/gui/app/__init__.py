"""The application: start, main window, actions, commands, settings and theme."""
