"""Archives of a run as nobody packs them: seeded, and small on the disk."""

from __future__ import annotations

import gzip
import io
import stat
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.fakes.text_edits import edited_bytes

_NAMES = (
    *(
        "../out",
        "/abs",
        "run/../../out",
        "run/./plan.json",
        "run//plan.json",
        "back\\slash",
        "C:\\x",
        "run/PLAN.JSON",
        " ",
    ),
    *(
        "run/plan.json",
        "run",
        "run/plan.json/x",
        "new\nline",
        "\x1b[31m",
        "Größe",
        "A\u030a",
        "x" * 300,
        "d/" * 200 + "x",
    ),
    *("COMPLETE", "run2/plan.json", ".", "..", "run/.", "-rf", "run/suite", "\ud800", "a\0b"),
)
_ZEROS = b"\0" * (4 << 20)
_LIE_BYTES = 5 << 30
_CENTRAL, _LOCAL = b"PK\x01\x02", b"PK\x03\x04"


def write_archive(folder: Path, run: Path, rng: Random) -> str:
    """An archive of the run below the folder, with something odd in it; its name."""
    how = rng.choice(sorted(_ZIPS) + sorted(_TARS))
    content = _ZIPS[how](run, rng) if how in _ZIPS else _TARS[how](run, rng)
    name = "odd.zip" if how in _ZIPS else rng.choice(["odd.tar.gz", "odd.tgz"])
    if rng.random() < 0.1:
        name = rng.choice(["odd.zip", "odd.tar.gz", "odd.ZIP", "odd.tar", "odd.7z", "odd"])
    if rng.random() < 0.3:
        content = edited_bytes(content, rng)[1]
    (folder / name).write_bytes(content)
    return name


def _files(run: Path) -> list[Path]:
    return [path for path in sorted(run.rglob("*")) if path.is_file()]


def _zip(run: Path, *more: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    told = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(told, "w", method) as packed:
        warnings.simplefilter("ignore")  # of a name that is there twice
        for path in _files(run):
            packed.write(path, path.relative_to(run.parent).as_posix())
        for name, content in more:
            packed.writestr(name, content)
    return told.getvalue()


def _name(rng: Random) -> str:
    return rng.choice(_NAMES)


def _odd_zip_member(run: Path, rng: Random) -> bytes:
    name = _name(rng).encode("utf-8", "replace").decode()  # zipfile itself writes nothing else
    return _zip(run, (name, b"x"))


def _zip_of_kind(run: Path, rng: Random) -> bytes:
    info = zipfile.ZipInfo("run/link")
    kind = rng.choice([stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK, stat.S_IFDIR, 0o170000])
    info.external_attr = (kind | 0o777) << 16
    return _zip(run, (info, b"/etc/passwd"))


def _patched(offset_local: int, offset_central: int, value: bytes) -> Callable[[Path, Random], bytes]:
    """A field of the first member's headers, with another value in one of them or in both."""

    def patched(run: Path, rng: Random) -> bytes:
        content = bytearray(_zip(run))
        local, central = content.find(_LOCAL) + offset_local, content.find(_CENTRAL) + offset_central
        places = rng.choice([(local,), (central,), (local, central)])
        for place in places:
            content[place : place + len(value)] = value
        return bytes(content)

    return patched


def _zip64(run: Path, rng: Random) -> bytes:
    """A member whose size is said to stand in an extra field, which says something else, or is cut."""
    info = zipfile.ZipInfo("run/large")
    sizes = struct.pack("<QQ", rng.choice([_LIE_BYTES, 2**64 - 1, 0]), rng.choice([1, 2**63]))
    info.extra = struct.pack("<HH", 1, rng.choice([16, 8, 0, 60])) + sizes[: rng.choice([16, 8, 3])]
    content = bytearray(_zip(run, (info, b"x")))
    last = content.rfind(_CENTRAL)
    content[last + 20 : last + 28] = b"\xff" * 8
    return bytes(content)


def _nested(run: Path, rng: Random) -> bytes:
    inner = _zip(run) if rng.random() < 0.5 else _tar_gz(run)
    for _ in range(rng.randrange(3)):
        inner = _zip(run / "nothing", ("run.zip", inner))
    return _zip(run / "nothing", (rng.choice(["run.zip", "run.tar.gz", "a/run.tgz"]), inner))


def _tar(run: Path, *more: tuple[tarfile.TarInfo, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    told = io.BytesIO()
    with tarfile.open(fileobj=told, mode="w", format=form) as packed:
        for path in _files(run):
            packed.add(path, path.relative_to(run.parent).as_posix())
        for info, content in more:
            info.size = len(content)
            packed.addfile(info, io.BytesIO(content))
    return told.getvalue()


def _tar_gz(run: Path, *more: tuple[tarfile.TarInfo, bytes]) -> bytes:
    return gzip.compress(_tar(run, *more), 1)


def _odd_tar_member(run: Path, rng: Random) -> bytes:
    form = rng.choice([tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
    info = tarfile.TarInfo(_name(rng).encode("utf-8", "replace").decode())
    return gzip.compress(_tar(run, (info, b"x"), form=form), 1)


def _tar_of_kind(run: Path, rng: Random) -> bytes:
    info = tarfile.TarInfo(rng.choice(["run/link", "run/plan.json"]))
    info.type = rng.choice([*(bytes([kind]) for kind in b"123456709SLKDVMNx"), b"\xff"])
    info.linkname = rng.choice(["/etc/passwd", "run/plan.json", "../x", ""])
    return _tar_gz(run, (info, b""))


def _pax(run: Path, rng: Random) -> bytes:
    info = tarfile.TarInfo("run/odd")
    info.pax_headers = {
        rng.choice(["path", "size", "linkpath", "GNU.sparse.map", "GNU.sparse.major", "hdrcharset", "mtime", "uid"]): (
            rng.choice(["../x", "-1", "9" * 30, "nan", "1,2,3", "", "BINARY", "\udcff"])
        )
    }
    return _tar_gz(run, (info, b"x"))


def _tar_size_lie(run: Path, rng: Random) -> bytes:
    """The header of the first member says another size, and its checksum is right."""
    content = bytearray(_tar(run))
    content[124:136] = rng.choice(
        [b"77777777777\0", b"00000000000\0", b"\x80" + b"\xff" * 11, b"-0000000001\0", b"x" * 12]
    )
    content[148:156] = b" " * 8
    content[148:156] = b"%06o\0 " % sum(content[:512])
    return gzip.compress(bytes(content), 1)


_ZIPS: dict[str, Callable[[Path, Random], bytes]] = {
    "zip": lambda run, _: _zip(run),
    "zip stored": lambda run, _: _zip(run, method=zipfile.ZIP_STORED),
    "zip bzip2": lambda run, _: _zip(run, method=zipfile.ZIP_BZIP2),
    "zip lzma": lambda run, _: _zip(run, method=zipfile.ZIP_LZMA),
    "zip of nothing": lambda run, _: _zip(run / "nothing"),
    "zip with an odd name": _odd_zip_member,
    "zip with a link": _zip_of_kind,
    "zip twice": lambda run, _: _zip(run) + _zip(run),
    "zip of zeros": lambda run, _: _zip(run, ("run/zeros", _ZEROS)),
    "zip encrypted": _patched(6, 8, b"\x01"),
    "zip of an unknown method": _patched(8, 10, b"\x63\x00"),
    "zip of another size": _patched(22, 24, struct.pack("<I", 2**31)),
    "zip of another checksum": _patched(14, 16, b"\0\0\0\0"),
    "zip of another version": _patched(4, 6, b"\xff\xff"),
    "zip64": _zip64,
    "zip in a zip": _nested,
    "tar as zip": lambda run, _: _tar_gz(run),
}
_TARS: dict[str, Callable[[Path, Random], bytes]] = {
    "tar": lambda run, _: _tar_gz(run),
    "tar not compressed": lambda run, _: _tar(run),
    "tar of nothing": lambda run, _: _tar_gz(run / "nothing"),
    "tar with an odd name": _odd_tar_member,
    "tar with a link": _tar_of_kind,
    "tar with odd headers": _pax,
    "tar of another size": _tar_size_lie,
    "tar of zeros": lambda run, _: _tar_gz(run, (tarfile.TarInfo("run/zeros"), _ZEROS)),
    "tar twice": lambda run, _: _tar_gz(run) + _tar_gz(run),
    "zip as tar": lambda run, _: _zip(run),
}
