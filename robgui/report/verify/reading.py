"""What a report prints of each run, as a reader sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

#: Elements that have no end.
_VOID = frozenset({"meta", "img", "br", "wbr", "source", "link", "input", "hr"})


@dataclass
class Printed:
    """What is printed of one run.

    Attributes:
        run: Its id.
        status: Sign and words.
        sentence: What it says.
        number: The number with its name.
        scope: On what.
        because: What it rests on.
    """

    run: str
    status: str = ""
    sentence: str = ""
    number: str = ""
    scope: str = ""
    because: list[str] = field(default_factory=list)


@dataclass
class ReportPage:
    """A report as a reader sees it.

    Attributes:
        runs: Every run by its id, in order.
        bottom: Status and sentence at the top.
        cells: Of the summary and the evidence: run, status, words.
    """

    runs: dict[str, Printed] = field(default_factory=dict)
    bottom: tuple[str, str] = ("", "")
    cells: list[tuple[str, str, str]] = field(default_factory=list)


def read_report_page(page: str) -> ReportPage:
    """What a page prints; text that no report has is passed over."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader.page


class _Reader(HTMLParser):
    """Collects text by the classes of the elements it stands in."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = ReportPage()
        self._open: list[tuple[str, str]] = []
        self._run: Printed | None = None
        self._status = ""
        self._link: str | None = None
        self._text: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            return
        values = dict(attrs)
        # Our pages put the meaning first; further classes are looks.
        kind = (values.get("class") or "").partition(" ")[0]
        if tag in ("td", "th", "tr", "li"):  # their ends are left out in places
            self._close(tag)
        if tag == "article":
            run = (values.get("id") or "").removeprefix("run-")
            self._run = self.page.runs.setdefault(run, Printed(run))
        if tag == "a" and (self._within("table", "summary") or self._within("table", "evidence")):
            self._link = (values.get("href") or "").removeprefix("#run-")
        self._open.append((tag, kind))
        self._text[f"{tag}.{kind}"] = ""

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID or not any(name == tag for name, _ in self._open):
            return
        self._close(tag)
        if tag == "article":
            self._run = None

    def handle_data(self, data: str) -> None:
        # To all that are open: a sentence may hold a link or a strong word.
        for tag, kind in self._open:
            key = f"{tag}.{kind}"
            self._text[key] = self._text.get(key, "") + data

    def _close(self, tag: str) -> None:
        """Ends the innermost element called ``tag``, and all within it."""
        places = [place for place, (name, _) in enumerate(self._open) if name == tag]
        if not places:
            return
        for name, kind in reversed(self._open[places[-1] :]):
            self._ended(name, kind, " ".join(self._text.pop(f"{name}.{kind}", "").split()))
        del self._open[places[-1] :]

    def _ended(self, tag: str, kind: str, text: str) -> None:
        if tag == "strong" and kind == "status":
            self._status = text
        if self._run is not None:
            self._of_run(tag, kind, text)
        elif tag == "p" and kind == "sentence" and self._within("section", "bottom-line"):
            self.page.bottom = (self._status, text)
        elif tag == "a" and self._link is not None:
            self.page.cells.append((self._link, self._status, text))
            self._link = None

    def _of_run(self, tag: str, kind: str, text: str) -> None:
        run = self._run
        assert run is not None
        if tag == "p" and kind == "sentence":
            run.status, run.sentence = self._status, text.removeprefix(self._status).strip()
        elif tag == "p" and kind in ("number", "scope"):
            setattr(run, kind, text)
        elif tag == "li" and self._within("ul", "because"):
            run.because.append(text)

    def _within(self, tag: str, kind: str) -> bool:
        return (tag, kind) in self._open
