"""RUN may be an archive of a run, and an archive may be hostile."""

from __future__ import annotations

import errno
import gzip
import io
import os
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from contracts.errors import ErrorCode, LabError
from driver import run_archive
from driver.show import case_text
from driver.verify import verify_run
from tests.fakes.written_runs import sealed_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return sealed_run(tmp_path / "evidence")


@pytest.mark.parametrize("form", ["gztar", "zip"])
@pytest.mark.parametrize("whole_folder", [True, False])
def test_an_archive_of_a_run_is_verified_and_shown_as_the_run(
    run: Path, tmp_path: Path, form: str, *, whole_folder: bool
) -> None:
    root, base = (run.parent, run.name) if whole_folder else (run, ".")
    archive = Path(shutil.make_archive(str(tmp_path / "packed"), form, root_dir=root, base_dir=base))
    assert verify_run(archive).path == archive
    assert "approval: pass (protected)" in case_text(archive, case_id="approval")


def test_an_archive_of_an_altered_run_is_altered(run: Path, tmp_path: Path) -> None:
    (run / "run.log").write_text("other")
    archive = Path(shutil.make_archive(str(tmp_path / "packed"), "gztar", root_dir=run.parent, base_dir=run.name))
    assert "run.log: was changed" in _refused(archive)


def test_an_empty_folder_in_an_archive_is_named(run: Path, tmp_path: Path) -> None:
    (run / "empty").mkdir()
    for form in ("gztar", "zip"):
        archive = Path(shutil.make_archive(str(tmp_path / "packed"), form, root_dir=run.parent, base_dir=run.name))
        assert "empty/: is an empty folder" in _refused(archive)


def test_a_cut_archive_is_refused(run: Path, tmp_path: Path) -> None:
    for form in ("gztar", "zip"):
        archive = Path(shutil.make_archive(str(tmp_path / "packed"), form, root_dir=run.parent, base_dir=run.name))
        archive.write_bytes(archive.read_bytes()[:-300])
        assert "cannot be unpacked" in _refused(archive)


def test_an_archive_that_a_full_disk_cannot_hold_is_not_said_to_be_altered(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(run_archive, "_copy", full)
    for form in ("gztar", "zip"):
        archive = Path(shutil.make_archive(str(tmp_path / "packed"), form, root_dir=run.parent, base_dir=run.name))
        with pytest.raises(LabError) as caught:
            verify_run(archive)
        assert caught.value.code is ErrorCode.MACHINE_LIMIT
        assert "TMPDIR" in str(caught.value.next_step)


def test_a_tar_that_was_packed_in_several_members_of_gzip_is_the_run(run: Path, tmp_path: Path) -> None:
    plain = Path(shutil.make_archive(str(tmp_path / "packed"), "tar", root_dir=run.parent, base_dir=run.name))
    content = plain.read_bytes()
    archive = tmp_path / "run.TAR.GZ"
    archive.write_bytes(gzip.compress(content[:5000]) + gzip.compress(content[5000:]))
    assert verify_run(archive).plan.run_id == verify_run(run).plan.run_id


def test_a_zip_with_an_encrypted_entry_is_refused_by_its_name(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as packed:
        packed.writestr("run/plan.json", "{}")
    content = bytearray((tmp_path / "run.zip").read_bytes())
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + flags] |= 1
    (tmp_path / "run.zip").write_bytes(content)
    assert "run/plan.json: is encrypted" in _refused(tmp_path / "run.zip")


def _tar_of(*members: tarfile.TarInfo) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with tarfile.open(path, "w:gz") as tar:
            for member in members:
                tar.addfile(member, io.BytesIO(bytes(member.size)))

    return write


def _member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    info.size = 10 if kind == tarfile.REGTYPE else 0
    return info


HOSTILE_TARS: dict[str, tuple[Callable[[Path], None], str]] = {
    "absolute": (_tar_of(_member("/etc/labctl-test")), "no plain path"),
    "parent": (_tar_of(_member("../../labctl-test")), "no plain path"),
    "inner parent": (_tar_of(_member("a/../../labctl-test")), "no plain path"),
    "symlink": (_tar_of(_member("plan.json", tarfile.SYMTYPE, "/etc/passwd")), "a link or a special file"),
    "hard link": (_tar_of(_member("a"), _member("b", tarfile.LNKTYPE, "a")), "a link or a special file"),
    "pipe": (_tar_of(_member("plan.json", tarfile.FIFOTYPE)), "a link or a special file"),
    "device": (_tar_of(_member("plan.json", tarfile.CHRTYPE)), "a link or a special file"),
    "twice": (_tar_of(_member("plan.json"), _member("plan.json")), "is there twice"),
    "file as folder": (_tar_of(_member("a"), _member("a/b")), "cannot be unpacked"),
    "control character": (_tar_of(_member("a\x1b[2J")), "holds a control character"),
}


@pytest.mark.parametrize("kind", HOSTILE_TARS)
def test_a_hostile_tar_is_refused_and_writes_nothing_outside(tmp_path: Path, kind: str) -> None:
    write, found = HOSTILE_TARS[kind]
    archive = tmp_path / "run.tar.gz"
    write(archive)
    error = _refused(archive)
    assert found in error
    assert "\x1b" not in error
    assert not Path("/etc/labctl-test").exists()


@pytest.mark.parametrize("kind", ["parent", "symlink", "twice", "backslash"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_hostile_zip_is_refused(tmp_path: Path, kind: str) -> None:
    archive = tmp_path / "run.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        if kind == "symlink":
            info = zipfile.ZipInfo("plan.json")
            info.external_attr = (stat.S_IFLNK | 0o777) << 16
            packed.writestr(info, "/etc/passwd")
        else:
            name = {"parent": "../x", "twice": "plan.json", "backslash": "a\\b"}[kind]
            packed.writestr(name, "1")
            packed.writestr(name if kind == "twice" else "y", "2")
    found = {"symlink": "a link or a special", "twice": "is there twice", "backslash": "holds a backslash"}
    assert found.get(kind, "no plain path") in _refused(archive)


@pytest.mark.parametrize("form", ["tar.gz", "zip"])
def test_an_archive_that_unpacks_to_too_much_is_refused_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setattr(run_archive, "MAX_BYTES", 5_000_000)
    archive = tmp_path / f"run.{form}"
    if form == "zip":
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("plan.json", bytes(50_000_000))
    else:
        member = _member("plan.json")
        member.size = 50_000_000
        _tar_of(member)(archive)
    assert archive.stat().st_size < 200_000
    assert "unpacks to more than" in _refused(archive)


def test_a_tar_whose_header_has_text_for_a_number_is_refused(tmp_path: Path) -> None:
    member = tarfile.TarInfo("run/plan.json")
    member.pax_headers = {"GNU.sparse.map": "many"}
    with tarfile.open(tmp_path / "odd.tar.gz", "w:gz") as packed:
        packed.addfile(member)
    assert "cannot be unpacked: invalid literal" in _refused(tmp_path / "odd.tar.gz")


def test_an_archive_of_too_many_members_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_archive, "MAX_MEMBERS", 10)
    _tar_of(*(_member(str(number)) for number in range(11)))(tmp_path / "run.tgz")
    assert "holds more than 10" in _refused(tmp_path / "run.tgz")


def test_a_good_archive_of_no_run_is_no_run(tmp_path: Path) -> None:
    _tar_of(_member("notes.txt"))(tmp_path / "notes.tar.gz")
    with pytest.raises(LabError) as caught:
        verify_run(tmp_path / "notes.tar.gz")
    assert caught.value.code is ErrorCode.NO_RUN


def test_nothing_unpacked_is_left_behind(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    archive = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", root_dir=run.parent, base_dir=run.name))
    verify_run(archive)
    (run / "extra").touch()
    archive = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", root_dir=run.parent, base_dir=run.name))
    assert "extra: is not listed" in _refused(archive)
    assert os.listdir(tmp_path / "temporary") == []  # noqa: PTH208 - only the names matter


def _refused(archive: Path) -> str:
    with pytest.raises(LabError) as caught:
        verify_run(archive)
    assert caught.value.code is ErrorCode.ALTERED
    return str(caught.value)
