"""What the owner names: a file, a folder or a zip are read alike, and a zip that lies is refused by name."""

import gc
import gzip
import io
import stat
import tarfile
import warnings
import zipfile
from datetime import UTC
from pathlib import Path
from random import randbytes
from tarfile import TarInfo
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZipFile, ZipInfo

import pytest

from pdpp_server.importers import files as module
from pdpp_server.importers.files import UnsafeZip, open_files
from pdpp_server.importers.registry import recognise
from pdpp_server.importers.source import DamagedFile, Files
from tests.requirements import requirement


def packed(path: Path, *members: tuple[str | ZipInfo, bytes], how: int = ZIP_DEFLATED) -> Path:
    with ZipFile(path, "w", how) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return path


def opened(path: Path) -> Files:
    return open_files(path, UTC)


def contents(files: Files) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for name, file in files.entries.items():
        with file.open() as stream:
            found[name] = stream.read()
    return found


@requirement("imp.files.same-everywhere")
def test_a_folder_and_a_zip_of_it_hold_the_same_files_in_the_same_order(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    (folder / "b" / ".obsidian").mkdir(parents=True)
    members = {"b/z.txt": b"z", "a.txt": b"a" * 300_000, "b/.obsidian/x": b"x"}
    for name, data in members.items():
        (folder / name).write_bytes(data)
    zipped = packed(tmp_path / "export.zip", *members.items())

    assert contents(opened(folder)) == contents(opened(zipped)) == members
    assert list(opened(folder).entries) == list(opened(zipped).entries) == sorted(members)
    assert contents(opened(folder / "a.txt")) == {"a.txt": b"a" * 300_000}


@requirement("imp.files.same-everywhere")
def test_litter_and_links_are_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    (folder / "__MACOSX").mkdir(parents=True)
    for name in (".DS_Store", "__MACOSX/x", "._note.md", "Thumbs.db", "note.md"):
        (folder / name).write_bytes(b"x")
    (tmp_path / "secret").write_bytes(b"secret")
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "around").symlink_to(folder)

    assert list(opened(folder).entries) == ["note.md"]
    litter = packed(tmp_path / "z.zip", ("note.md", b"x"), ("__MACOSX/._note.md", b"x"), ("a/.DS_Store", b"x"))
    assert list(opened(litter).entries) == ["note.md"]


@requirement("imp.files.same-everywhere")
def test_names_are_the_same_whoever_packed_them(tmp_path: Path) -> None:
    path = packed(tmp_path / "z.zip", ("Müll\\x.txt", b"x"))
    raw = bytearray(path.read_bytes())
    raw[7] &= ~0x08  # it is UTF-8, and nobody says so
    raw[raw.index(b"PK\x01\x02") + 9] &= ~0x08
    path.write_bytes(raw)

    assert list(opened(path).entries) == ["Müll/x.txt"]


@requirement("imp.files.progress")
def test_every_byte_that_is_read_is_counted(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a" * 1_000_000)
    files = opened(tmp_path / "a")

    with files.entries["a"].open() as stream:
        assert stream.readline(10) == b"a" * 10
        assert 10 <= files.meter.read < 1_000_000
        stream.seek(999_999)
        assert stream.read() == b"a"


@requirement("imp.files.progress")
def test_whoever_waits_hears_of_every_step(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a" * 1_000_000)
    heard: list[int] = []

    with open_files(tmp_path / "a", UTC, heard=heard.append).entries["a"].open() as stream:
        stream.read()

    assert heard[-1] == 1_000_000
    assert len(heard) > 3
    assert heard == sorted(heard)


def link() -> ZipInfo:
    member = ZipInfo("link")
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    return member


@requirement("imp.files.unsafe-zip")
@pytest.mark.parametrize(
    ("member", "why"),
    [
        ("../up.txt", "leads out"),
        ("a/../../up.txt", "leads out"),
        ("/etc/passwd", "leads out"),
        ("C:/x.txt", "leads out"),
        ("..\\up.txt", "leads out"),
        (link(), "is a link"),
    ],
)
def test_a_member_that_no_export_has_is_refused_by_name(tmp_path: Path, member: str | ZipInfo, why: str) -> None:
    path = packed(tmp_path / "z.zip", ("fine.txt", b"x"), (member, b"target"))

    with pytest.raises(UnsafeZip, match=why) as refused:
        opened(path)

    name = member if isinstance(member, str) else member.filename
    assert name.replace("\\", "/") in refused.value.message


@requirement("imp.files.unsafe-zip")
def test_an_encrypted_member_is_refused_by_name(tmp_path: Path) -> None:
    path = packed(tmp_path / "z.zip", ("secret.txt", b"x"))
    raw = bytearray(path.read_bytes())
    raw[6] |= 1
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(raw)

    with pytest.raises(UnsafeZip, match=r"'secret\.txt', which is encrypted"):
        opened(path)


@requirement("imp.files.unsafe-zip")
def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        path = packed(tmp_path / "z.zip", ("a.txt", b"1"), ("a.txt", b"2"))

    with pytest.raises(UnsafeZip, match=r"'a\.txt' twice"):
        opened(path)


@requirement("imp.files.unsafe-zip")
def test_a_bomb_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RATIO_FREE_BYTES", 1_000_000)
    one = packed(tmp_path / "one.zip", ("zeros", bytes(2_000_000)))
    among = packed(tmp_path / "among.zip", ("zeros", bytes(2_000_000)), ("noise", randbytes(500_000)))
    several = packed(tmp_path / "several.zip", *((f"zeros{n}", bytes(900_000)) for n in range(9)))

    for path in (one, among, several):
        with pytest.raises(UnsafeZip, match="which no export does"):
            opened(path)


@requirement("imp.files.unsafe-zip")
def test_a_member_gives_no_more_bytes_than_it_states(tmp_path: Path) -> None:
    path = packed(tmp_path / "z.zip", ("zeros", bytes(1_000_000)))
    raw = path.read_bytes()
    path.write_bytes(raw.replace((1_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    file = opened(path).entries["zeros"]

    with file.open() as stream, pytest.raises(DamagedFile, match="zeros"):
        stream.read()
    assert file.size == 10


@requirement("imp.files.unsafe-zip")
def test_too_many_files_and_odd_packing_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnsafeZip, match="packed in a way"):
        opened(packed(tmp_path / "odd.zip", ("a", b"a"), how=ZIP_BZIP2))
    monkeypatch.setattr(module, "FILES_MAX", 3)
    with pytest.raises(module.InvalidRequest, match="more than 3 files"):
        opened(packed(tmp_path / "z.zip", *((f"f{n}", b"") for n in range(5))))


@requirement("imp.files.damaged")
def test_a_zip_that_is_cut_off_is_refused_by_its_name(tmp_path: Path) -> None:
    path = packed(tmp_path / "export.zip", ("a.txt", b"a" * 100_000))
    path.write_bytes(path.read_bytes()[:-30])

    with pytest.raises(DamagedFile, match=r"export\.zip is not a whole zip"):
        opened(path)
    path.write_bytes(b"<html>Please sign in</html>")
    with pytest.raises(DamagedFile, match=r"export\.zip is not a whole zip"):
        opened(path)


@requirement("imp.files.damaged")
def test_a_damaged_member_is_named_when_it_is_read(tmp_path: Path) -> None:
    noise = bytes(range(256)) * 4000
    path = packed(tmp_path / "z.zip", ("fine.txt", b"fine"), ("bad.bin", noise), how=zipfile.ZIP_STORED)
    raw = bytearray(path.read_bytes())
    raw[raw.index(noise) + 5000] ^= 0xFF
    path.write_bytes(raw)
    files = opened(path)

    with files.entries["bad.bin"].open() as stream, pytest.raises(DamagedFile, match=r"bad\.bin") as damaged:
        stream.read()
    assert damaged.value.param == "bad.bin"
    with files.entries["fine.txt"].open() as stream:
        assert stream.read() == b"fine"


@requirement("imp.files.damaged")
def test_an_archive_is_closed_whichever_of_its_parts_is_dropped_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error of a damaged member holds frames that hold the archive: such a ring is taken down in any order."""
    monkeypatch.delattr(ZipFile, "__del__")
    ring: list[object] = [opened(packed(tmp_path / "z.zip", ("a.txt", b"a")))]
    ring.append(ring)

    del ring
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        gc.collect()
    assert [str(warning.message) for warning in said if "z.zip" in str(warning.message)] == []


@requirement("imp.files.same-everywhere")
def test_a_zip_with_64_bit_sizes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "z.zip"
    with ZipFile(path, "w", ZIP_DEFLATED) as archive, archive.open("big.txt", "w", force_zip64=True) as member:
        member.write(b"line\n" * 1000)

    with opened(path).entries["big.txt"].open() as stream:
        assert sum(1 for _ in io.TextIOWrapper(stream)) == 1000


# tar --------------------------------------------------------------------------------------------------------------


def tarred(path: Path, *members: tuple[TarInfo, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:  # pyright: ignore[reportCallIssue, reportArgumentType]
        for member, data in members:
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


@requirement("imp.files.same-everywhere")
@pytest.mark.parametrize(("name", "mode"), [("a.tgz", "w:gz"), ("a.tar", "w"), ("without ending", "w:gz")])
def test_a_tar_is_read_as_a_zip_is(name: str, mode: str, tmp_path: Path) -> None:
    members = [(TarInfo("./b/two.txt"), b"2" * 300_000), (TarInfo("a.txt"), b"1"), (TarInfo("b/.DS_Store"), b"x")]
    files = opened(tarred(tmp_path / name, *members, mode=mode))

    assert list(files.entries) == ["a.txt", "b/two.txt"]
    with files.entries["b/two.txt"].open() as two, files.entries["a.txt"].open() as one:
        assert (two.read(3), one.read(), len(two.read())) == (b"222", b"1", 299_997)


@requirement("imp.files.unsafe-zip")
def test_a_tar_that_no_export_is_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = TarInfo("link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    for member, why in ((TarInfo("../up"), "leads out"), (link, "is a link")):
        with pytest.raises(UnsafeZip, match=why):
            opened(tarred(tmp_path / "z.tgz", (member, b"")))
    monkeypatch.setattr(module, "RATIO_FREE_BYTES", 1_000_000)
    with pytest.raises(UnsafeZip, match="which no export does"):
        opened(tarred(tmp_path / "bomb.tgz", (TarInfo("zeros"), bytes(20_000_000))))


@requirement("imp.files.damaged")
def test_a_tar_that_is_cut_is_named(tmp_path: Path) -> None:
    whole = tarred(tmp_path / "z.tgz", (TarInfo("noise"), randbytes(200_000))).read_bytes()
    (tmp_path / "cut.tgz").write_bytes(whole[:100_000])
    with pytest.raises(DamagedFile, match=r"cut\.tgz is not a whole tar file"):
        opened(tmp_path / "cut.tgz")


@requirement("imp.files.wrong-kind")
def test_what_is_packed_and_no_tar_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"text"))
    (tmp_path / "b.gz").write_bytes(b"\x1f\x8b\x08nothing")
    assert [list(opened(tmp_path / name).entries) for name in ("a.gz", "b.gz")] == [["a.gz"], ["b.gz"]]


@requirement("imp.files.opened-once")
def test_of_a_file_that_is_nobodys_only_the_beginning_is_unpacked(tmp_path: Path) -> None:
    """Otherwise an export of a hundred thousand pictures is looked at for minutes."""
    path = packed(
        tmp_path / "export.zip", *((f"{n}.dat", b"\x00" + b"nothing that is known here. " * 8000) for n in range(3))
    )
    files = opened(path)
    assert recognise(files) == []
    assert files.meter.read <= 3 * module.FIRST_BYTES


@requirement("imp.files.opened-once")
def test_pictures_and_films_are_not_opened_to_be_recognised(tmp_path: Path) -> None:
    names = ("a.jpg", "b/C.JPEG", "d.mp4", "e.opus")
    files = opened(packed(tmp_path / "export.zip", *((name, b"From a@b.example") for name in names)))
    assert recognise(files) == []
    assert files.meter.read == 0
