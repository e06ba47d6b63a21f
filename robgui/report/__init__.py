"""Results on paper: drawings of views, the one-file HTML report, the PDF, a notebook's display.

``drawing`` draws views; ``html.write_html`` writes a whole workspace as one file that needs no
network, ``pdf.write_pdf`` as pages; ``writing.write_report`` chooses by the ending. What both say
is in ``report_content``, ``bottom_line`` and ``origin``. Nothing here touches pyplot or Qt.
"""
