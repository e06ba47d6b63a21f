"""The findings of a workspace as a story of a few slides, in plain sentences."""

from robgui.report.story.slides import Right, Slide, story_of
from robgui.report.story.words import Edits, read_edits, write_edits

__all__ = ["Edits", "Right", "Slide", "read_edits", "story_of", "write_edits"]
