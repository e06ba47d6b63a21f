"""A PDF file written straight from lines of text and pictures, page by page.

matplotlib draws a page in a tenth of a second, because it lays out every line as a figure and packs
every picture anew. A page of a report is nothing but lines, rules and pictures that are packed
already, so it is written as it is.
"""

from robgui.report.paper.document import Document
from robgui.report.paper.picture import PackedPicture, packed

__all__ = ["Document", "PackedPicture", "packed"]
