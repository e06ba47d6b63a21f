"""Results on paper: matplotlib figures and the one-file HTML report.

``figures.FIGURES`` maps the name of an analysis to a function from its result to a matplotlib Figure;
``figures.draw`` calls it in light or dark. ``html.write_html`` writes a whole workspace as one file that needs no
network. Nothing here touches pyplot, a display or Qt.
"""
