"""The manual: written once, searchable, and complete for every method."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import get_args

import pytest

from robgui import manual
from robgui.cli import COMMANDS, main
from robgui.core.errors import RobguiError
from robgui.core.execution import method
from robgui.core.execution.registry import analyses
from robgui.core.model.settings import ModelSettings
from robgui.reproduce.claim import methods
from tests.methods import OUR_METHODS
from tests.sixth_method.test_sixth_method import EXAMPLE, install

OURS = [one.name for one in method.methods()]
FILE_OPTIONS = ("--names", "--params", "--baseline", "--junit", "--evidence", "--property")
SECTIONS = (
    "In plain words",
    "What it answers",
    "How to read the picture",
    "The method",
    "Paper and corrections",
    "Limits",
)


def test_the_pages_are_the_first_one_and_the_methods_in_the_order_of_the_rail():
    assert [page.name for page in manual.pages()] == [manual.START, *OURS]
    assert tuple(sorted(OURS)) == OUR_METHODS


@pytest.mark.parametrize("name", OURS)
def test_every_method_has_a_page_with_all_its_sections(name):
    page = manual.page(name)
    for section in SECTIONS:
        assert len(page.sections[section]) > 80, f"{name}: {section}"
    assert "\n\n" not in page.plain


def test_every_analysis_leads_to_the_page_of_its_method_and_every_setting_is_explained():
    for one in method.methods():
        for known in one.analyses:
            assert manual.page_of(known.name).name == one.name
            text = manual.settings([known])
            for name, field in known.params.model_fields.items():
                assert (
                    f"`{name}`" in text
                    and (field.description or "") in text
                    and len(field.description or "") > 10
                )
    assert manual.page_of("nothing").name == manual.START


def test_a_method_from_another_package_has_its_page_and_is_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    site = tmp_path / "site"
    shutil.copytree(EXAMPLE, site / "robgui_brightness")
    install(site, "robgui_brightness", "brightness = robgui_brightness.method:METHOD")
    monkeypatch.syspath_prepend(str(site))
    method.refresh()
    try:
        assert manual.page_of("brightness").plain and manual.pages()[-1].name == "brightness"
        assert any(hit.page == "brightness" for hit in manual.search("brightness"))
    finally:
        monkeypatch.undo()
        method.refresh()


def test_a_page_without_a_heading_is_called_after_its_method(tmp_path: Path):
    (tmp_path / "help.md").write_text("Just words.\n\n## In plain words\nPlain.", encoding="utf-8")
    page = manual.read_page("bare", tmp_path / "help.md", "Bare method")
    assert (page.title, page.plain) == ("Bare method", "Plain.")


def test_a_page_that_does_not_exist_is_a_sentence():
    with pytest.raises(RobguiError, match="no page 'unicorn'"):
        manual.page("unicorn")


def test_a_search_finds_the_section_and_shows_the_words_around_it():
    hits = manual.search("watermark")
    assert hits and hits[0].page == "zonnscan" and "atermark" in hits[0].text
    assert manual.search("clopper pearson")[0].section == "The method"
    assert manual.search("zebra crossing") == [] and manual.search("  ") == []


def test_every_setting_choice_analysis_and_command_that_a_page_names_exists():
    ours = [known for one in method.methods() for known in one.analyses]
    fields = [(name, field) for known in ours for name, field in known.params.model_fields.items()]
    names = {name for name, _ in fields} | {
        str(choice) for _, field in fields for choice in get_args(field.annotation)
    }
    commands = {f"robgui {name}" for name in COMMANDS}
    commands |= {f"robgui reproduce {name}" for name in methods()} | {
        f"{option} FILE" for option in FILE_OPTIONS
    }
    side_file = {"<model file>.toml", 'labels = "names.txt"', *ModelSettings.model_fields}
    for page in manual.pages():
        # the language of the gallery has a test of its own beside its parser
        text = page.text.replace(page.sections.get("Finding inputs", ""), "")
        named = re.findall(r"`([^`\n]+)`", text) + re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", text)
        assert set(named) <= names | commands | side_file | set(analyses()), page.name


def test_the_options_that_a_page_names_are_options_of_a_run(capsys):
    with pytest.raises(SystemExit):
        main(["run", "zonnscan", "--help"])
    said = capsys.readouterr().out
    assert "--names FILE" in said and "--params FILE" in said
