"""What the owner sees: who may read, what was read, what there is."""

import re
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import pytest

from pdpp_server.cli.activity import _row
from pdpp_server.evidence.grants import fields_text
from pdpp_server.evidence.handles import mint
from pdpp_server.importers.registry import declaration_of
from pdpp_server.mcp.render import record_url
from pdpp_server.model.ingest import Rejection
from pdpp_server.model.queries import FetchQuery, SearchQuery
from pdpp_server.port.local import LocalReader
from pdpp_server.wire.grants import decode_selection
from tests.requirements import requirement
from tests.scenarios.console.visitor import Visitor, fields_of, shown, visiting
from tests.worlds import chat
from tests.worlds.told import ToldReader, told
from tests.worlds.world import World


@requirement("con.clients.end")
def test_ending_a_client_asks_once_and_says_what_it_did(owner: Visitor, world: World) -> None:
    page, there = owner.page("/clients"), f"/clients/{world.grant_id}"
    bearer = {"Authorization": f"Bearer {world.token}"}

    question = owner.send(page, there).text
    assert "End the access of Agent?" in shown(question)
    assert owner.http.get("/v1/streams", headers=bearer).status_code == 200
    assert "Agent reads nothing any more" in shown(owner.send(question, there).text)
    assert "Agent reads nothing any more" in shown(owner.send(question, there).text)

    assert "Nobody may read anything." in shown(owner.page("/clients"))
    assert owner.http.get("/v1/streams", headers={"Authorization": f"Bearer {world.token}"}).status_code == 403


@requirement("con.pages.same-words", "log.owner.page")
def test_pages_say_what_the_command_says(owner: Visitor, world: World) -> None:
    told(world.reader.fetch(FetchQuery("messages", "m1", world.work)))
    (disclosure,) = world.owner.activity()
    names = world.owner.reader_names()

    listed = shown(owner.page("/activity"))
    granted = shown(owner.page(f"/clients/{world.grant_id}"))

    assert all(cell in listed for cell in _row(disclosure, names))
    stream = world.owner.grants()[0].grant.streams[0]
    assert fields_text(stream).capitalize() in granted


@requirement("con.consent.left-out")
def test_the_page_of_a_client_claims_nothing_that_was_narrowed_away(owner: Visitor, world: World) -> None:
    world.grant(world.both("messages", fields=["id", "subject"]))
    narrowed = next(row.grant for row in world.owner.grants() if row.grant.client_name == "Another agent")

    assert "Subject, text, author and time." in shown(owner.page(f"/clients/{world.grant_id}"))
    assert "Subject, text, author and time." not in shown(owner.page(f"/clients/{narrowed.grant_id}"))


@requirement("con.clients.why")
def test_beside_a_read_of_a_record_stands_why_it_could_be_read(owner: Visitor, world: World) -> None:
    assert world.reader.fetch(FetchQuery("messages", "m1", world.work)).value
    page = owner.page(f"/records/{world.work}/messages:m1")
    (link,) = re.findall(r'href="(/clients/[^"]+/why[^"]+)"', page)

    why = shown(owner.page(link))

    assert "Why could Agent read this?" in why
    assert "Because you allowed it" in why
    assert "What it sees of it every field" in why
    assert "Until when no end" in why
    assert "Permitted. messages: from" in why
    assert owner.get(f"/clients/{world.grant_id}/why").status_code == 400
    assert owner.get("/clients/grt_0/why?record=a/b:c").status_code == 404


@requirement("con.clients.why")
def test_why_says_what_stays_hidden_and_that_it_has_ended(owner: Visitor, world: World) -> None:
    world.grant(world.both("messages", fields=["id", "subject"]))
    narrowed = next(row.grant for row in world.owner.grants() if row.grant.client_name == "Another agent")
    there = f"/clients/{narrowed.grant_id}/why?record={world.work}/messages:m1"
    assert "What it sees of it id, subject What stays hidden text, author" in shown(owner.page(there))

    world.owner.revoke(narrowed.grant_id)

    assert "It cannot any more: what you allowed is revoked." in shown(owner.page(there))
    assert "changed or ended that since" in shown(
        owner.page(f"/clients/{world.grant_id}/why?record={world.work}/none:1")
    )


@requirement("con.clients.unused")
def test_a_client_that_has_not_read_for_long_is_pointed_out(owner: Visitor, world: World) -> None:
    assert "90 days" not in owner.page("/clients") + owner.page("/")
    world.clock.moment += timedelta(days=91)
    owner.sign_in()

    assert "unused for 90 days" in owner.page("/clients")
    assert "has not read for 90 days" in shown(owner.page("/"))
    assert world.reader.fetch(FetchQuery("messages", "m1", world.work)).value
    assert "90 days" not in owner.page("/clients") + owner.page("/")


@requirement("con.clients.last-read")
def test_a_preview_is_no_read_of_the_client(owner: Visitor, world: World) -> None:
    look = FetchQuery("messages", "m1", world.work)
    assert told(LocalReader(world.services, world.owner.preview_token(world.grant_id)).fetch(look))
    assert "has read nothing yet" in shown(owner.page("/clients"))

    assert world.reader.fetch(look).value
    assert "last read today at 12:00 UTC" in shown(owner.page("/clients"))


@requirement("con.activity.found")
def test_what_left_is_found_by_client_record_and_request(owner: Visitor, world: World) -> None:
    found = world.reader.fetch(FetchQuery("messages", "m1", world.work))
    other = world.reader.search(SearchQuery("lease"))
    assert found.value
    assert other.value

    by_request = owner.page(f"/activity?request={found.request_id}")
    by_record = owner.page(f"/activity?record={world.family}/messages:m1")
    by_client = owner.page(f"/activity?grant={world.grant_id}")

    assert (found.request_id in by_request, other.request_id in by_request) == (True, False)
    assert (found.request_id in by_record) is False
    assert found.request_id in by_client
    assert other.request_id in by_client
    assert "2026-11-15: Agent, 2 reads" in owner.page("/activity")  # a bar of the chart
    assert found.request_id in owner.page(f"/activity?source={world.work}&day=2026-11-15")
    assert "Nobody has read anything of that kind." in shown(owner.page("/activity?day=2026-11-14"))
    assert owner.get("/activity?day=yesterday").status_code == 400


@requirement("con.pages.record")
def test_the_address_of_a_citation_leads_to_the_record(owner: Visitor, world: World) -> None:
    world.deliver(chat.WORK, [chat.message("a/b c:d", subject="Odd key", text="Behind an odd key.")])
    world.deliver(chat.WORK, [chat.message("a/b c:d", subject="Odd key", text="Changed since.")])
    reader = ToldReader(LocalReader(world.services, world.token, "http://127.0.0.1"))
    (hit,) = reader.search(SearchQuery('"odd key"')).value.hits

    page = owner.page(urlsplit(record_url(reader, mint(hit.id))).path)

    assert "<h1>Odd key</h1>" in page
    assert "bound method" not in page
    assert "Changed since." in page
    assert "<dt>Versions</dt>" in page
    assert "Agent" in shown(page).partition("Who read it")[2]


@requirement("con.pages.record")
def test_a_long_field_goes_on_where_the_page_ends(owner: Visitor, world: World) -> None:
    world.deliver(chat.WORK, [chat.message("long", text="x" * 9000 + "the end of it")])

    page = owner.page(f"/records/{world.work}/messages:long")
    (more,) = re.findall(r'href="(/records/[^"]+from=8000)"', page)

    assert "the end of it" not in page
    assert "the end of it" in owner.page(more.replace("&amp;", "&"))


@requirement("con.pages.escaped")
def test_text_of_a_record_is_never_markup(owner: Visitor, world: World) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'\u202egnp.exe"
    world.deliver(chat.WORK, [chat.message("evil", subject=evil, text=f"lease {evil}", author=evil)])

    for path in ("/search?q=alert", f"/records/{world.work}/messages:evil"):
        page = owner.page(path)
        assert "<script" not in page
        assert "<img src=x" not in page
        assert "\u202e" not in page
        assert "\\u202e" in page


@requirement("con.pages.search")
def test_the_owner_searches_everything_and_is_named_as_the_reader(owner: Visitor, world: World) -> None:
    page = owner.page("/search?q=walrus")

    assert "<mark>walrus</mark>" in page
    newest = world.owner.activity()[0]
    assert (newest.operation, newest.token_kind, newest.client_id) == ("search", "owner", "owner-pages")
    assert "you, on your pages searched" in shown(owner.page("/activity")).partition("Your own looks")[2]


@requirement("con.activity.sentences")
def test_activity_says_who_asked_what_and_what_it_saw(owner: Visitor, world: World) -> None:
    assert world.reader.search(SearchQuery("walrus")).value
    assert world.reader.fetch(FetchQuery("messages", "m1", world.work)).value

    page = owner.page("/activity")

    said = shown(page)
    assert "Today Agent read 2 messages and searched once , at 12:00 UTC" in said
    assert "searched for “walrus” and saw 1 message" in said
    assert re.search(rf'<a href="/records/{world.work}/messages%3Am1">[^<]+</a>', page)


@requirement("con.activity.sentences")
def test_the_days_of_the_chart_are_those_of_the_clock_on_the_wall(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    for at in ("2026-11-14T13:10:00+00:00", "2026-11-15T03:59:00+00:00", "2026-11-15T05:01:00+00:00"):
        world.clock.moment = datetime.fromisoformat(at)
        assert world.reader.search(SearchQuery("walrus")).value

    with visiting(world) as owner:
        assert owner.sign_in().status_code == 303
        page = owner.page("/activity")
        (day_before,) = re.findall(r'href="(/activity\?day=2026-11-14)"', page)

        assert "14 November" not in shown(page) and "Yesterday Agent" in shown(page)
        assert "2026-11-14: Agent, 2 reads" in page and "2026-11-15: Agent, 1 read, 1 record" in page
        assert "2 reads" in shown(owner.page(day_before))


@requirement("con.activity.sentences")
def test_clients_that_are_called_alike_are_chosen_by_since_when_they_are_known(owner: Visitor, world: World) -> None:
    world.grant(world.both("messages"))
    world.clock.moment += timedelta(minutes=30)
    world.grant(world.both("messages"))

    choices = re.findall(r"<option[^>]*>([^<]*)</option>", owner.page("/activity?day=2026-11-15"))

    assert {"Agent", "Another agent, since today at 12:00 UTC", "Another agent, since today at 12:30 UTC"} <= {*choices}


@requirement("con.activity.own-apart")
def test_what_the_owner_looks_at_hides_no_read_of_a_client(owner: Visitor, world: World) -> None:
    assert world.reader.search(SearchQuery("walrus")).value
    for _ in range(50):
        assert "<mark>" in owner.page("/search?q=lease")

    clients, _, own = shown(owner.page("/activity")).partition("Your own looks")

    assert "Agent" in clients
    assert "you, on your pages" not in clients
    assert "you, on your pages" in own


@requirement("con.pages.help")
def test_the_menu_and_a_part_of_a_long_text_say_where_one_is(owner: Visitor, world: World) -> None:
    for page in ("/sources", "/import", "/follow", f"/remove/{world.work}"):
        assert '<a href="/sources" aria-current="page">' in owner.page(page), page
    assert "Characters 1 to " in shown(owner.page(f"/records/{world.work}/messages:m1?field=text"))


@requirement("con.clients.change")
def test_a_source_that_was_removed_keeps_its_name_where_a_client_may_read_it(owner: Visitor, world: World) -> None:
    notes = declaration_of("markdown")
    writer = world.owner.writer(notes, "Vault")
    asked = {
        **chat.detail({"name": "notes", "instance_ids": [writer.connection_id]}),
        "source": {"id": notes.source.id},
    }
    grant = world.owner.create_grant(decode_selection([asked]), "Reader", None)
    world.owner.remove_source(writer.connection_id)

    assert "Notes (Markdown)" in shown(owner.page("/clients"))
    preview = shown(owner.page(f"/clients/{grant.grant_id}/preview"))
    assert "Nothing of Notes (Markdown) is here any more." in preview and "Described by" not in preview


@requirement("con.activity.today")
def test_the_first_page_tells_the_day_and_who_is_new(owner: Visitor, world: World) -> None:
    assert "Nobody has read anything today." in shown(owner.page("/"))
    assert world.reader.search(SearchQuery("walrus")).value

    first = shown(owner.page("/"))
    world.clock.moment += timedelta(days=8)
    owner.sign_in()
    later = shown(owner.page("/"))

    assert "Agent read for the first time, today at 12:00 UTC" in first
    assert "Agent read 1 message and searched once" in first.partition("Today")[2]
    assert "for the first time" not in later
    assert "Nobody has read anything today." in later
    assert "15 November 2026 Agent read 1 message" in later


@requirement("con.pages.sources")
def test_sources_say_how_much_since_when_and_what_was_rejected(owner: Visitor, world: World) -> None:
    world.owner.writer(chat.DECLARATION, chat.WORK).finish(
        "chat.ndjson", [Rejection("chat.ndjson:7", "invalid_record", "text is missing")]
    )

    listed = shown(owner.page("/sources"))
    one = shown(owner.page(f"/sources/{world.work}"))

    assert "Work chat" in listed
    assert "imported today at 12:00 UTC" in listed
    assert "1 line rejected" in listed
    assert "text is missing chat.ndjson:7" in one


@requirement("con.pages.refusal")
def test_a_refusal_is_a_page_with_the_words_of_every_door(owner: Visitor, world: World) -> None:
    response = owner.get(f"/records/{world.work}/messages:none")

    assert response.status_code == 404
    assert "That record is not here, or not any more." in response.text
    assert "not_found" in response.text
    assert response.headers["request-id"] in response.text


@requirement("con.pages.trouble")
@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/nope", 404, "There is nothing at this address."),
        ("/oauth/authorize", 400, "client_id is missing."),
        ("/oauth/authorize?client_id=cli_gone", 400, "No such client is known here."),
        ("/oauth/token", 405, "This address takes POST only."),
        ("/mcp", 401, "This address is for programs."),
        ("/v1/schema", 401, "This address is for programs."),
    ],
)
def test_whatever_goes_wrong_in_a_browser_is_a_page_and_elsewhere_what_programs_expect(
    visitor: Visitor, path: str, status: int, says: str
) -> None:
    page = visitor.get(path)
    program = visitor.http.get(path, headers={"Accept": "application/json, text/event-stream"})
    token = {"Accept": "text/html", "Authorization": "Bearer x"}

    assert (page.status_code, page.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert says in shown(page.text)
    assert page.headers["request-id"] in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "set-cookie" not in page.headers
    assert (program.status_code, "error" in program.json()) == (status, True)
    assert "error" in visitor.http.get(path, headers=token).json()


@requirement("con.pages.trouble")
def test_the_owner_keeps_the_way_to_the_pages_and_a_strange_name_is_told_what_to_do(owner: Visitor) -> None:
    lost = owner.get("/nope").text
    strange = owner.http.get("/", headers={"Accept": "text/html", "Host": "nas.local"})

    assert 'href="/clients"' in lost
    assert (strange.status_code, "PDPP_TRUSTED_HOSTS" in strange.text) == (421, True)
    assert "<script" not in owner.get('/%3Cscript%3E"').text


@requirement("con.pages.refusal")
def test_programs_find_the_index_where_browsers_find_the_home_page(owner: Visitor) -> None:
    assert owner.http.get("/").json()["object"] == "pdpp_discovery_index"
    assert "<h1>1 client may read</h1>" in owner.page("/")


@requirement("log.day.kept")
def test_the_owner_says_on_the_page_how_long_the_log_is_kept(owner: Visitor, world: World) -> None:
    page = owner.page("/activity")
    assert "The log is kept for ever" in shown(page)

    for days in ("365", "365", "0", "100"):
        answer = owner.send(page, "/activity", days=days)
        assert (answer.status_code, answer.headers["location"]) == (303, "/activity")
    assert world.owner.activity_kept_days == 100
    assert "The log is kept for 100 days" in shown(owner.page("/activity"))

    for odd in ("", "7", "-1", "x", "9" * 500, None):
        assert owner.send(page, "/activity", days=odd).status_code == 400
    assert world.owner.activity_kept_days == 100


@requirement("log.day.kept")
def test_what_the_command_said_stands_on_the_page_too(owner: Visitor, world: World) -> None:
    world.owner.keep_activity(400)

    assert dict(fields_of(owner.page("/activity"), "/activity"))["days"] == "400"
