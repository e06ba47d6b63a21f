"""The style of the HTML report."""

from __future__ import annotations

STYLE = """
:root {
  --ink: #1c1e21; --quiet: #5c6370; --paper: #ffffff; --soft: #f4f5f7; --line: #d9dce1;
  --accent: #0b63b0; --bad: #a8320a; --good: #1a6b3c; --doubt: #7a5200;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e4e6ea; --quiet: #a0a7b4; --paper: #1b1d21; --soft: #25282d; --line: #3a3e46;
    --accent: #6cb4ee; --bad: #ff9f7d; --good: #7fd3a3; --doubt: #e6b450;
  }
}
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
.status.bad { color: var(--bad); }
.status.doubtful { color: var(--doubt); }
.status.good { color: var(--good); }
.status.unknown { color: var(--quiet); }
.headline, .trail { margin: .25rem 0; overflow-wrap: anywhere; }
.summary { font-size: .9rem; table-layout: fixed; }
.summary th, .summary td { overflow-wrap: break-word; }
.summary a { text-decoration: none; }
.summary a:hover, .summary a:focus { text-decoration: underline; }
footer { border-top: 1px solid var(--line); padding-top: 1rem; }
article { border-top: 1px solid var(--line); padding: 1.5rem 0; }
.verdict { font-size: 1.1rem; margin: .25rem 0 1rem; overflow-wrap: anywhere; }
.quiet, .state { color: var(--quiet); font-size: .875rem; font-weight: normal; }
.error, .state.failed { color: var(--bad); overflow-wrap: anywhere; }
.state.done { color: var(--good); }
.note { margin: .25rem 0 0; white-space: pre-wrap; overflow-wrap: anywhere; }
td .quiet { margin: 0; }
.figure { display: block; width: 100%; max-width: 42rem; height: auto; margin: .75rem auto; border-radius: 4px; }
.thumb { display: block; max-width: 9rem; height: auto; image-rendering: pixelated; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
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
@media print { details > * { display: block; } .figure { max-width: 34rem; } article, tr { break-inside: avoid; } nav { display: none; } }
"""
