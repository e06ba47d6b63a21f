"""A PDF file written directly from lines of text and pictures, page by page.

matplotlib takes a tenth of a second per page, because it lays out every line as a figure and
repacks every picture. A page of a report is nothing but lines, rules and packed pictures, so it is
written directly.
"""

from robgui.report.paper.document import Document
from robgui.report.paper.picture import PaperPicture, packed

__all__ = ["Document", "PaperPicture", "packed"]
