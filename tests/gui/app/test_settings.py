"""Settings survive a restart and can never block the start."""

from __future__ import annotations

from pathlib import Path

import pytest

from robgui.gui.app.settings import Settings, config_path, load_settings, save_settings


def test_settings_come_back():
    settings = Settings(look="dark", font_scale=1.5)
    settings.add_recent(Path("a.onnx"))
    save_settings(settings)
    assert load_settings() == settings


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"dark": "perhaps"}', "\x00\x01", '{"font_scale": []}']
)
def test_a_broken_file_gives_the_defaults(text):
    config_path().parent.mkdir(parents=True, exist_ok=True)
    config_path().write_text(text)
    assert load_settings() == Settings()


def test_a_folder_in_place_of_the_file_gives_the_defaults_and_saving_does_not_raise():
    config_path().mkdir(parents=True)
    assert load_settings() == Settings()
    save_settings(Settings(look="dark"))


def test_recent_files_are_unique_and_few():
    settings = Settings()
    for i in [*range(20), 3]:
        settings.add_recent(Path(f"/m{i}.onnx"))
    assert len(settings.recent) == 12
    assert settings.recent[0] == str(Path("/m3.onnx").absolute())
    assert len(set(settings.recent)) == 12


def test_whoever_had_asked_for_dark_keeps_it_and_the_others_follow_the_system():
    config_path().parent.mkdir(parents=True, exist_ok=True)
    for old, look in (('{"dark": true}', "dark"), ('{"dark": false}', "system")):
        config_path().write_text(old)
        assert load_settings().look == look
