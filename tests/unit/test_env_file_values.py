"""--env-from-file: the rules of docker's env-file, and errors by file and line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from driver.env_file import read_env_values


def values(folder: Path, content: bytes, **host: str) -> dict[str, str]:
    path = folder / "keys.env"
    path.write_bytes(content)
    return read_env_values(path, host=host)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"A=1\nB=2\n", {"A": "1", "B": "2"}),
        (b"\xef\xbb\xbfA=1", {"A": "1"}),
        (b"# note\n  # another\n\n \t \nA=1\r\n", {"A": "1"}),
        (b'A="quoted" # no comment\n', {"A": '"quoted" # no comment'}),
        (b"A= padded \n", {"A": " padded "}),
        (b"A=x=y,z\n", {"A": "x=y,z"}),
        (b"A=\n", {"A": ""}),
        (b"A=1\nA=2\n", {"A": "2"}),
        (b"  A=1\n", {"A": "1"}),
        (b"HOME_KEY\nOTHER\n", {"HOME_KEY": "of the host"}),
        ("A=grüße\n".encode(), {"A": "grüße"}),
        (b"", {}),
    ],
)
def test_a_file_is_read_as_docker_reads_it(tmp_path: Path, content: bytes, found: dict[str, str]) -> None:
    assert values(tmp_path, content, HOME_KEY="of the host") == found


def test_every_wrong_line_is_named_and_no_value_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(LabError) as caught:
        values(tmp_path, b"A=1\n=secret\nB C=secret\nD=\xffsecret\nE=sec\0ret\n")
    error = caught.value
    assert (error.code, error.exit_code) == (ErrorCode.BAD_USAGE, 2)
    assert [found.place for found in error.found] == ["line 2", "line 3", "line 4", "line 5"]
    assert str(tmp_path / "keys.env") in str(error)
    assert "secret" not in str(error)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="--env-from-file cannot be read") as caught:
        read_env_values(tmp_path / "none.env", host={})
    assert "none.env: No such file" in str(caught.value)


def test_a_pipe_that_somebody_writes_into_is_read_to_its_end(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as stream:
        stream.write(b"A=1\nB=2")
    try:
        assert read_env_values(Path(f"/dev/fd/{reading}"), host={}) == {"A": "1", "B": "2"}
    finally:
        os.close(reading)


def test_a_pipe_without_a_writer_and_a_file_without_an_end_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path, found in (
        (tmp_path / "fifo", "nobody writes into it"),
        (Path("/dev/zero"), "has more than 1048576 bytes"),
    ):
        with pytest.raises(LabError) as caught:
            read_env_values(path, host={})
        assert caught.value.code is ErrorCode.BAD_USAGE
        assert found in str(caught.value)
