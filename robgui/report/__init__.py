"""Results on paper: matplotlib figures, the one-file HTML report and the PDF.

``figures.FIGURES`` maps the name of an analysis to a function from its result to a matplotlib Figure;
``figures.draw`` calls it in light or dark. ``html.write_html`` writes a whole workspace as one file that needs no
network, ``pdf.write_pdf`` as pages; ``writing.write_report`` chooses by the ending. What both say stands in ``facts``.
Nothing here touches pyplot, a display or Qt.
"""
