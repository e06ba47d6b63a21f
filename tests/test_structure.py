"""Limits on how the code reads; ``python -m tests.structure`` prints the figures."""

from __future__ import annotations

import re

import pytest

from tests import structure

#: Not met yet: these may fall and not rise.
MOST_LONG_FILES, MOST_LARGE_FOLDERS = 0, 0
MOST_CONDITIONALS_PER_THOUSAND = 10.0
MOST_PRIVATE_IN_TESTS = 0
#: Words that say nothing; a number or a name says it.
PHRASES = re.compile(r"\bso many\b|\bso that it\b|\bsuch as one that\b", re.IGNORECASE)


@pytest.fixture(scope="module")
def code() -> list[structure.Source]:
    return structure.sources("robgui")


def test_no_function_has_more_than_60_lines(code):
    long = [place for length, place in structure.functions(code) if length > 60]
    assert not long


def test_files_and_folders_stay_small(code):
    long = [str(each.path) for each in code if len(each.lines) > structure.LONGEST_FILE]
    assert len(long) <= MOST_LONG_FILES, long
    large = structure.large_folders("robgui", "tests", "packaging")
    assert len(large) <= MOST_LARGE_FOLDERS, large


def test_no_conditional_expression_holds_another_and_they_become_fewer(code):
    found = list(structure.conditionals(code))
    assert not [place for nested, place in found if nested]
    lines = sum(len(each.lines) for each in code)
    assert 1000 * len(found) / lines <= MOST_CONDITIONALS_PER_THOUSAND


def test_a_public_class_name_stands_for_one_class(code):
    assert not structure.repeated_classes(code)


def test_modules_import_each_other_in_no_ring(code):
    assert not structure.rings(code)


def test_no_module_of_the_program_reaches_for_a_private_name_of_another(code):
    assert not structure.private_accesses(code)


def test_tests_reach_for_fewer_private_names():
    everything = structure.sources("robgui", "tests", "packaging")
    assert len(structure.private_accesses(everything)) <= MOST_PRIVATE_IN_TESTS


def test_limits_are_said_directly():
    files = [
        path
        for folder in ("robgui", "resources", "docs")
        for path in (structure.ROOT / folder).rglob("*")
        if path.suffix in (".py", ".md")
    ]
    assert len(files) > 800
    assert not [str(path) for path in files if PHRASES.search(path.read_text(encoding="utf-8"))]


def test_the_script_counts_what_it_says():
    text = "def f(x):\n    # why\n    return (1 if x else 2) if x else 3\n\nclass A:\n    pass\n"
    one = structure.Source(structure.Path("robgui/one.py"), text)
    two = structure.Source(structure.Path("robgui/two.py"), "class A:\n    _x = 1\n")
    three = structure.Source(
        structure.Path("robgui/three.py"),
        "from robgui.two import A\nfrom robgui import four\nprint(A()._x)\n"
        'patch("robgui.two.A._x")\n',
    )
    four = structure.Source(structure.Path("robgui/four.py"), "import robgui.three\n")
    assert [length for length, _ in structure.functions([one])] == [3]
    assert [nested for nested, _ in structure.conditionals([one])] == [True, False]
    assert structure.comment_lines([one]) == 1
    assert list(structure.repeated_classes([one, two])) == ["A"]
    found = structure.private_accesses([two, three])
    assert sorted(found) == ["robgui/three.py:3 _x", "robgui/three.py:4 _x"]
    assert structure.rings([one, two, three, four]) == [["robgui.four", "robgui.three"]]
