"""The style of the HTML report: the colours of the drawings that stand in it."""

from __future__ import annotations

from robgui.core.verdict import Status
from robgui.core.view import Ink, status_ink
from robgui.report.drawing.look import Look, mixed


def style() -> str:
    """The whole style sheet, light and dark."""
    dark = f"@media (prefers-color-scheme: dark) {{ :root {{ {_colours(Look(dark=True))} }} }}"
    return f":root {{ {_colours(Look())} }}\n{dark}\n{_RULES}"


def status_class(status: Status) -> str:
    """The class of a status in the style sheet."""
    return status.value.replace(" ", "-")


def _colours(look: Look) -> str:
    """The variables of one look."""
    values = {
        "ink": look.text,
        "quiet": look.faded,
        "paper": look.ground,
        "soft": mixed(look.text, look.ground, 0.05),
        "line": mixed(look.text, look.ground, 0.16),
        "accent": look.colour(Ink("original")),
        **{status_class(status): look.colour(status_ink(status)) for status in Status},
    }
    return " ".join(f"--{name}: {value};" for name, value in values.items())


_RULES = """
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 52rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
header > .quiet { margin: 0; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.4rem; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1.1rem; margin: 0 0 .25rem; }
a { color: var(--accent); }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; margin: .5rem 0 0; padding: 0; }
.plain { background: var(--soft); border-left: 3px solid var(--accent); padding: .75rem 1rem; margin: .5rem 0 1.5rem; }
.status.fails { color: var(--fails); }
.status.at-risk { color: var(--at-risk); }
.status.holds { color: var(--holds); }
.status.unknown { color: var(--unknown); }
.bottom-line { border-left: 6px solid var(--line); padding: .25rem 0 .25rem 1rem; margin: 1.5rem 0; }
.bottom-line.fails { border-color: var(--fails); }
.bottom-line.at-risk { border-color: var(--at-risk); }
.bottom-line.holds { border-color: var(--holds); }
.bottom-line .status { font-size: 1.5rem; }
.bottom-line .sentence { font-size: 1.2rem; margin: .25rem 0; }
.number, .trail, .scope { margin: .25rem 0; overflow-wrap: anywhere; }
.because { margin: .25rem 0 .75rem; padding-left: 1.25rem; }
.failed { padding-left: 1.25rem; }
.failed li { margin: .35rem 0; overflow-wrap: anywhere; }
.summary { font-size: .9rem; table-layout: fixed; }
.summary th, .summary td { overflow-wrap: break-word; }
.evidence { font-size: .85rem; min-width: 48rem; }
.untested li { margin: .25rem 0; overflow-wrap: anywhere; }
.summary a { text-decoration: none; }
.summary a:hover, .summary a:focus { text-decoration: underline; }
footer { border-top: 1px solid var(--line); padding-top: 1rem; }
article { border-top: 1px solid var(--line); padding: 1.5rem 0; }
.sentence { font-size: 1.1rem; margin: .25rem 0; overflow-wrap: anywhere; }
.quiet, .state { color: var(--quiet); font-size: .875rem; font-weight: normal; }
.error, .state.failed { color: var(--fails); overflow-wrap: anywhere; }
.state.done { color: var(--holds); }
.note { margin: .25rem 0 0; white-space: pre-wrap; overflow-wrap: anywhere; }
td .quiet { margin: 0; }
.figure { display: block; width: 100%; max-width: 42rem; height: auto; margin: .75rem auto; border-radius: 4px; }
.figure.pair { image-rendering: pixelated; max-width: 38rem; }
.logo { float: right; max-width: 12rem; max-height: 5rem; margin: 0 0 .5rem 1rem; }
.thumb { display: block; max-width: 9rem; height: auto; image-rendering: pixelated; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
.wide { overflow-x: auto; margin: .75rem 0; }
.view { font-size: .9rem; width: auto; }
.view caption { text-align: left; font-weight: 600; padding-bottom: .25rem; }
.view .figures { text-align: right; font-variant-numeric: tabular-nums; }
.facts { font-size: .9rem; margin: .5rem 0 1rem; }
.facts th { width: 9rem; font-weight: 600; color: var(--quiet); }
.facts td { overflow-wrap: anywhere; }
summary { cursor: pointer; color: var(--accent); padding: .5rem 0; }
meter { width: 4rem; }
@media (max-width: 34rem) {
  .findings thead, .summary thead { display: none; }
  .findings tr, .summary tr { display: block; border-bottom: 1px solid var(--line); padding: .75rem 0; }
  .findings td, .summary td, .summary th { display: block; border: 0; padding: .15rem 0; }
  .summary .none { display: none; }
  .summary td::before { content: attr(data-label); display: block; color: var(--quiet); margin-top: .35rem; }
  .facts th { width: 6.5rem; }
}
@media print { details > * { display: block; } .figure { max-width: 34rem; } details.others:not([open]) > article { display: none; } article, tr { break-inside: avoid; } nav { display: none; } }
"""
