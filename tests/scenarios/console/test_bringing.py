"""Bring data in through a page: recognised, shown, imported beside it, and told line by line; or nothing stays."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from httpx2 import Response

from pdpp_server.console.bringing import told
from pdpp_server.importers.upload_board import UploadBoard
from pdpp_server.importers.uploads import Uploads
from tests.engine.beneath import is_postgres
from tests.importers.homes import TODAY, event, ics
from tests.requirements import requirement
from tests.scenarios.console.visitor import Visitor, fields_of, shown, visiting
from tests.worlds.world import World

CALENDAR = b"""BEGIN:VCALENDAR\r
VERSION:2.0\r
PRODID:-//test//\r
X-WR-CALNAME:Choir\r
BEGIN:VEVENT\r
UID:1@test\r
DTSTART:20260301T190000Z\r
DTEND:20260301T210000Z\r
SUMMARY:Rehearsal <script>alert(1)</script>\r
END:VEVENT\r
BEGIN:VEVENT\r
UID:2@test\r
DTSTART:nonsense\r
SUMMARY:Broken\r
END:VEVENT\r
END:VCALENDAR\r
"""
SECONDS = 60


@pytest.fixture
def owner(world: World) -> Iterator[Visitor]:
    with visiting(world, upload_bytes=300_000) as visitor:
        assert visitor.sign_in().status_code == 303
        yield visitor


def send(owner: Visitor, *files: tuple[str, bytes], page: str = "", **left_out: None) -> Response:
    """The form of the page with those files, as a browser would send it."""
    fields = dict(fields_of(page or owner.page("/import"), "/import"))
    named = [("files", (name, content, "application/octet-stream")) for name, content in files]
    sent = {name: value for name, value in fields.items() if name not in left_out and name != "files"}
    headers = {"Origin": owner.origin, "Accept": "text/html"}
    return owner.http.post("/import", data=sent, files=named, headers=headers, follow_redirects=False)


def settled(owner: Visitor, response: Response) -> tuple[str, str]:
    """Where an upload stands once nothing goes on any more, and its page."""
    there, page = response.headers["location"], ""
    for _ in range(SECONDS * 20):
        page = owner.page(there)
        if "data-again" not in page:
            return there, page
        time.sleep(0.05)
    raise AssertionError(shown(page))


def eventually(is_so: Callable[[], bool]) -> bool:
    for _ in range(SECONDS * 20):
        if is_so():
            return True
        time.sleep(0.05)
    return False


def left_behind(world: World) -> list[Path]:
    """Of the files of uploads; what is said of one, where several processes serve a home, stays for a while."""
    kept = [path for path in (world.home / "uploads").rglob("*") if path.is_file()]
    return [path for path in kept if not (is_postgres() and path.suffix == ".told")]


@requirement("con.import.whole", "con.import.once")
def test_files_are_recognised_shown_imported_and_told(owner: Visitor, world: World) -> None:
    response = send(owner, ("choir.ics", CALENDAR), ("notes.txt", b"\x00\x01 nothing that anybody knows"))
    there, page = settled(owner, response)

    said = shown(page)
    assert "This is what was found" in said
    assert "Choir" in said
    assert "notes.txt is nothing that is known here" in said
    assert {source.name for source in world.owner.sources()} == {"Work chat", "Family chat"}  # nothing yet

    fields = [*fields_of(page, there), ("action", "import")]
    first, second = owner.post(there, fields), owner.post(there, fields)
    assert first.headers["location"] == second.headers["location"] == there
    _, page = settled(owner, first)
    said = shown(page)
    assert "1 rejected" in said
    assert "choir.ics" in said.partition("line rejected")[2]
    assert "Choir" in {source.name for source in world.owner.sources()}
    assert left_behind(world) == []

    again = settled(owner, send(owner, ("choir.ics", CALENDAR)))[1]
    assert "The same files were read to their end" in shown(again)


def imported(owner: Visitor, *files: tuple[str, bytes]) -> tuple[str, str]:
    there, page = settled(owner, send(owner, *files))
    return settled(owner, owner.post(there, [*fields_of(page, there), ("action", "import")]))


@requirement("con.import.removal")
def test_a_large_removal_waits_for_a_yes_on_the_page_and_can_be_undone_there(owner: Visitor, world: World) -> None:
    def events() -> int:
        (choir,) = (source for source in world.owner.sources() if source.name == "Choir")
        return next(stream.records for stream in choir.streams if stream.name == "events")

    def pressed(there: str, page: str, action: str) -> str:
        return settled(owner, owner.post(there, [*fields_of(page, there), ("action", action)]))[1]

    imported(owner, ("choir.ics", ics(*map(event, "abcd"), name="Choir").encode()))
    there, page = imported(owner, ("choir (1).ics", ics(event("a"), stamp=TODAY, name="Choir").encode()))

    assert "Kept what it has no longer: it is more than half of what was there" in shown(page)
    assert "Remove 6 records" in shown(page)  # events, and when they are
    assert events() == 4
    page = pressed(there, page, "remove")
    assert "6 removed that it has no longer" in shown(page)
    assert (events(), left_behind(world)) == (1, [])
    assert "6 removed that it has no longer" in shown(pressed(there, page, "remove"))  # sent twice it is done once
    assert "6 records are back, and later imports keep them" in shown(pressed(there, page, "undo.0"))
    assert events() == 4
    assert "6 records are back" in shown(pressed(there, page, "undo.0"))


@requirement("con.import.once")
def test_a_form_with_files_that_is_sent_twice_is_one_upload(owner: Visitor) -> None:
    page = owner.page("/import")

    first, second = (send(owner, ("choir.ics", CALENDAR), page=page) for _ in range(2))

    assert first.headers["location"] == second.headers["location"]
    assert owner.page("/import").count("choir.ics") == 1


@requirement("con.import.whole")
def test_what_no_importer_takes_is_listed_with_what_to_do(owner: Visitor) -> None:
    inner, outer = BytesIO(), BytesIO()
    with ZipFile(inner, "w") as file:
        file.writestr("channels.json", b"[]")
    with ZipFile(outer, "w") as file:
        file.writestr("choir.ics", CALENDAR)
        file.writestr("slack.zip", inner.getvalue())

    _, page = settled(owner, send(owner, ("life.zip", outer.getvalue())))

    assert "slack.zip · 1 file, 126 bytes; it looks like a zip inside an export . Take it out, and import" in shown(
        page
    )
    assert "<details open><summary>Not imported" in page


@requirement("con.import.nothing-left")
@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("statement.pdf", b"%PDF-1.7 ...", "it looks like a PDF"),
        ("../../etc/passwd", b"root:x:0:0", "passwd is nothing that is known here"),
        ("bomb.zip", b"", "bomb.zip"),
    ],
)
def test_what_is_no_export_gets_a_sentence_and_leaves_nothing(
    owner: Visitor, world: World, name: str, content: bytes, says: str
) -> None:
    _, page = settled(owner, send(owner, (name, content or bomb())))

    assert "Nothing in it can be imported" in shown(page)
    assert says in shown(page)
    assert left_behind(world) == []


def bomb() -> bytes:
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as file:
        file.writestr("conversations.json", b"[" + b" " * 120_000_000)
    return packed.getvalue()


@requirement("con.import.nothing-left")
def test_too_much_is_refused_with_a_sentence_and_leaves_nothing(owner: Visitor, world: World) -> None:
    response = send(owner, ("big.mbox", b"From a@b\n" + b"x" * 400_000))

    assert response.status_code == 413
    assert "which is the most that a page takes" in shown(response.text)
    assert left_behind(world) == []


@requirement("con.import.nothing-left")
def test_files_that_break_off_leave_nothing(owner: Visitor, world: World) -> None:
    fields = dict(fields_of(owner.page("/import"), "/import"))
    head = "--b\r\nContent-Disposition: form-data; name="
    parts = [f'{head}"{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()]
    opened = f'{head}"files"; filename="half.ics"\r\n\r\nBEGIN:VCAL'
    headers = {"Origin": owner.origin, "Content-Type": "multipart/form-data; boundary=b", "Accept": "text/html"}

    response = owner.http.post("/import", content="".join([*parts, opened]).encode(), headers=headers)

    assert response.status_code == 400
    assert "did not arrive whole" in shown(response.text)
    assert left_behind(world) == []
    nothing = f'{head}"files"; filename=""\r\n\r\n\r\n--b--\r\n'
    empty = owner.http.post("/import", content="".join([*parts, nothing]).encode(), headers=headers)
    assert (empty.status_code, "No file was chosen" in empty.text) == (400, True)


@requirement("con.forms.own-only")
def test_files_of_a_strangers_form_are_not_kept(owner: Visitor, world: World) -> None:
    assert send(owner, ("choir.ics", CALENDAR), form_token=None).status_code == 403
    fields = dict(fields_of(owner.page("/import"), "/import"))
    foreign = {"Origin": "https://evil.example", "Accept": "text/html"}
    assert owner.http.post("/import", data=fields, files={"files": CALENDAR}, headers=foreign).status_code == 403
    owner.http.cookies.clear()
    sent = owner.http.post("/import", data=fields, files={"files": CALENDAR}, follow_redirects=False)
    assert sent.headers["location"].startswith("/sign-in")
    assert left_behind(world) == []


@requirement("con.import.whole")
def test_a_page_of_files_that_are_gone_says_so_and_an_import_ends_between_batches(owner: Visitor, world: World) -> None:
    assert "not here any more" in shown(owner.get("/import/no-such-upload-here").text)
    there, page = settled(owner, send(owner, ("choir.ics", CALENDAR)))

    discarded = owner.send(page, there, action="discard")

    assert discarded.headers["location"] == "/import"
    assert left_behind(world) == []
    assert owner.get(there).status_code == 404


@requirement("con.import.nothing-left")
def test_names_of_files_stay_inside_the_folder_of_their_upload(world: World) -> None:
    uploads = Uploads(world.owner, world.home, UTC, world.clock)
    uploads.begin("x" * 16)
    folder = world.home / "uploads" / ("x" * 16)

    for name in ("../../a", "..", "C:\\b\\c.zip", "/etc/passwd", "\x00", "", "a" * 300, ".hidden", "same", "same"):
        path = uploads.place("x" * 16, name)
        path.write_bytes(b"")
        assert path.resolve().parent == folder.resolve()
    uploads.give_up("x" * 16)
    uploads.close()
    assert not folder.exists()


@requirement("con.sources.remove")
def test_removing_a_source_says_first_what_goes(owner: Visitor, world: World) -> None:
    there = f"/remove/{world.work}"
    assert f'href="{there}"' in owner.page(f"/sources/{world.work}")

    page = owner.page(there)
    said = shown(page)
    assert "Remove Work chat?" in said
    assert "Agent may read it now" in said
    assert world.work in {source.connection_id for source in world.owner.sources()}
    assert "Work chat is removed" in shown(owner.send(page, there).text)
    assert "It is removed already" in shown(owner.send(page, there).text)
    assert owner.get(there).status_code == 404
    assert {source.name for source in world.owner.sources()} == {"Family chat"}


@requirement("con.pages.policy")
def test_only_the_pages_of_files_have_a_script_and_it_is_ours(owner: Visitor) -> None:
    response = owner.get("/import")

    assert "script-src 'self'; connect-src 'self';" in response.headers["content-security-policy"]
    assert "unsafe" not in response.headers["content-security-policy"]
    assert response.text.count("<script") == 1
    assert owner.get("/pages.js").headers["content-type"].startswith("text/javascript")


@requirement("con.import.any-process")
def test_files_that_came_to_one_process_are_shown_and_imported_by_way_of_another(world: World) -> None:
    def opened() -> Uploads:
        return Uploads(world.owner, world.home, UTC, world.clock, told=told, is_one_of_many=True)

    def stage(uploads: Uploads) -> str:
        found = uploads.find(id)
        return "" if found is None else found["upload"]["stage"]

    id, one, another = "x" * 16, opened(), opened()
    assert one.begin(id)
    assert not another.begin(id)  # a form that is sent twice
    one.place(id, "choir.ics").write_bytes(CALENDAR)
    one.arrived(id)
    assert eventually(lambda: stage(another) == "found")
    assert another.find(id) == one.find(id)
    assert [each["upload"]["id"] for each in another.recent()] == [id]

    another.take(id, {"action": "import", "chosen": {"0": None}})

    assert eventually(lambda: stage(another) == "done")
    assert another.find(id) == one.find(id)
    assert "Choir" in {source.name for source in world.owner.sources()}
    assert another.find(f"../uploads/{id}") is None
    one.close()
    assert another.find(id) is None  # as where there is one process that ends
    another.close()
    assert left_behind(world) == []


@requirement("con.import.any-process")
def test_where_nothing_can_be_told_to_others_an_import_goes_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(UploadBoard, "tell", full)
    id, uploads = "x" * 16, Uploads(world.owner, world.home, UTC, world.clock, told=told, is_one_of_many=True)

    def stage() -> str:
        found = uploads.find(id)
        return found["upload"]["stage"] if found else ""

    assert uploads.begin(id)
    uploads.place(id, "choir.ics").write_bytes(CALENDAR)
    uploads.arrived(id)
    assert eventually(lambda: stage() == "found")
    uploads.take(id, {"action": "import", "chosen": {"0": None}})
    assert eventually(lambda: stage() == "done")
    uploads.close()
