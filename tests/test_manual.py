"""The manual: written once, searchable, and complete for every method."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from robgui import manual
from robgui.cli import main
from robgui.core.execution.registry import analyses
from robgui.core.model.settings import ModelSettings
from robgui.reproduce.claim import methods

METHODS = manual.names()[1:]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_page_with_all_its_sections(name):
    page = manual.page(name)
    for section in ("In plain words", "What it answers", "How to read the picture", "The method", "Paper and corrections", "Limits"):
        assert len(page.sections[section]) > 80, f"{name}: {section}"
    assert "\n\n" not in page.plain


def test_every_analysis_leads_to_the_page_of_its_method_and_every_setting_is_explained():
    ours = list(analyses().values())
    assert len(ours) >= 14
    for known in ours:
        assert manual.page_of(known.name).name in METHODS
        text = manual.settings([known])
        for name, field in known.params.model_fields.items():
            assert f"`{name}`" in text and (field.description or "") in text and len(field.description or "") > 10


def test_a_search_finds_the_section_and_shows_the_words_around_it():
    hits = manual.search("watermark")
    assert hits and hits[0].page == "zonnscan" and "atermark" in hits[0].text
    assert manual.search("clopper pearson")[0].section == "The method"
    assert manual.search("zebra crossing") == [] and manual.search("  ") == []


def test_every_setting_choice_analysis_and_command_that_a_page_names_exists():
    ours = list(analyses().values())
    fields = [(name, field) for known in ours for name, field in known.params.model_fields.items()]
    names = {name for name, _ in fields} | {str(choice) for _, field in fields for choice in get_args(field.annotation)}
    commands = {f"robgui reproduce {method}" for method in methods()} | {f"{option} FILE" for option in ("--names", "--params")}
    side_file = {"<model file>.toml", 'labels = "names.txt"', *ModelSettings.model_fields}
    for page in manual.pages():
        named = re.findall(r"`([^`\n]+)`", page.text) + re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", page.text)
        assert set(named) <= names | commands | side_file | {known.name for known in ours}, page.name


def test_the_options_that_a_page_names_are_options_of_a_run(capsys):
    with pytest.raises(SystemExit):
        main(["run", "zonnscan", "--help"])
    said = capsys.readouterr().out
    assert "--names FILE" in said and "--params FILE" in said
