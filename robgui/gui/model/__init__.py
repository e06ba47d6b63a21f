"""Opening a model: the dialogs and the cards that show what was loaded."""
