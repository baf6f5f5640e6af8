"""Which values are taken for secrets."""

from __future__ import annotations

import pytest

from driver.cli.discretion import secrets_of
from driver.secret_values import held_secrets, looks_secret


@pytest.mark.parametrize(
    "name",
    ["API_KEY", "apikey", "PGPASSWORD", "DB_PWD", "GH_TOKEN", "oauthToken", "clientSecret", "AUTH", "SESSION_COOKIE"],
)
def test_a_name_with_a_word_for_secrets_makes_any_value_one(name: str) -> None:
    assert looks_secret(name, "plain")
    assert not looks_secret(name, "")


@pytest.mark.parametrize("name", ["MONKEYS", "KEYBOARD", "TOKENIZER", "PWD", "OLDPWD", "AUTHOR", "COMPASS", "PINNED"])
def test_a_name_that_only_contains_such_a_word_does_not(name: str) -> None:
    assert not looks_secret(name, "plain")


@pytest.mark.parametrize(
    "value", ["", "0", "-12.5", "8080", "debug", "WARNING", "Production", "http://desk:8080", "UTC"]
)
def test_a_value_that_is_plainly_a_setting_is_none(value: str) -> None:
    assert not looks_secret("SETTING", value)


@pytest.mark.parametrize(
    "value",
    ["hunter2", "two words", "sk-1", "123456", "https://user:pw@host/", "http://host/hook/abc", "Ab1", "passWordish",
     "abcdefghijklm", "/a/path", "a\nb"],
)  # fmt: skip
def test_every_other_value_is_one(value: str) -> None:
    assert looks_secret("SETTING", value)


def test_of_labctls_own_environment_only_credentials_by_name_and_shape_are_held() -> None:
    environ = {
        "CI_JOB_TOKEN": "glcbt-64_abcdef",
        "SSH_AUTH_SOCK": "/run/user/1000/agent",
        "SESSION": "plasma",
        "API_KEY": "short7!",
        "EDITOR": "emacs -nw --with-secret",
        "BYTES_KEY": "not-utf-8-\udcff",
        "TLS_KEY": "-----BEGIN PRIVATE KEY-----\nMIIE\n",
    }
    assert sorted(held_secrets(environ)) == ["host:CI_JOB_TOKEN", "host:TLS_KEY"]


def test_what_a_command_line_gives_is_known_before_anybody_has_checked_it(tmp_path: object) -> None:
    arguments = [
        "run",
        "x",
        "-e",
        "A=one-1",
        "-eB=two-2",
        "--env",
        "C=three-3",
        "--env=D=four-4",
        "-e",
        "E",
        "F=five-5",
    ]
    arguments += ["--env", "PUBLIC=six-6", "--not-secret", "PUBLIC", "--evidence=/a/b-7", "-e", "LEVEL=debug"]
    found = secrets_of(arguments, {"E": "of-the-host-8", "OPENAI_API_KEY": "sk", "HOME": "/root"})
    assert found == {
        "A": "one-1",
        "B": "two-2",
        "C": "three-3",
        "D": "four-4",
        "E": "of-the-host-8",
        "F": "five-5",
        "OPENAI_API_KEY": "sk",
    }
