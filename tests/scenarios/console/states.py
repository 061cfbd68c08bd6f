"""Every page of the owner's in every state that it has, and the way there: what tests judge and `make pages` shows."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from unittest.mock import patch
from urllib.parse import quote
from zipfile import ZipFile

import httpx2
import orjson
from playwright.sync_api import Page

from pdpp_server.owner.sign_in import SignIn
from pdpp_server.wire.grants import DETAIL_TYPE
from tests.importers.homes import TODAY, event, ics
from tests.scenarios.authorization_server.flow import CHALLENGE, EVERY_FLOW
from tests.worlds.lived import AGENT, FORMER, MAIL, PASSWORD, SCRIPT, Lived

REGISTRY = "https://registry.pdpp.dev/connectors"
REDIRECT = "http://localhost/callback"
MARKS = "[⟦⟧]"


@dataclass(frozen=True)
class Walk:
    """Somebody with a browser, at a home that has nothing yet and at one with a whole life."""

    page: Page
    empty: Lived
    full: Lived
    passed: list["State"] = field(default_factory=list)

    def go(self, path: str, life: Lived | None = None) -> None:
        self.page.goto(f"{(life or self.full).base}{path}")

    def through(self, door: "State | None", state: "State") -> None:
        """Past that door once, then on."""
        if door and door not in self.passed:
            door(self)
            self.passed.append(door)
        state(self)

    def click(self, name: str) -> None:
        """A language that is made up puts marks around its words."""
        whole = re.compile(f"^{MARKS}*{f'{MARKS}*'.join(map(re.escape, name))}{MARKS}*$")
        self.page.get_by_role("button", name=whole).first.click()

    def record(self, connection: tuple[str, str], stream: str, words: str) -> str:
        """The address of a record that the agent would find by those words."""
        found = self.full.call(
            "search", query=words, streams=[stream], connection_id=self.full.connections[connection], limit=1
        )
        return quote(found["results"][0]["id"])

    def asked(self, life: Lived | None = None, *details: dict[str, Any], **members: Any) -> None:
        """To the page on which a client asks; without details it leaves the choice to the owner."""
        base = (life or self.full).base
        with httpx2.Client(base_url=base, verify=False) as http:  # no TLS here, and trust is dear to load
            about = {"client_name": "Claude Code", "redirect_uris": [REDIRECT], "grant_types": EVERY_FLOW, **members}
            client_id = http.post("/oauth/register", json=about).json()["client_id"]
            given: dict[str, str] = {
                "client_id": client_id,
                "redirect_uri": REDIRECT,
                "response_type": "code",
                "code_challenge": CHALLENGE,
                "code_challenge_method": "S256",
                "resource": f"{base}/mcp",
            }
            if details:
                given["authorization_details"] = orjson.dumps(details).decode()
            sent = http.get("/oauth/authorize", params=given, follow_redirects=False)
        self.page.goto(sent.headers["location"])

    def grant_of(self, client: str) -> str:
        rows = self.full.owner.grants()
        row = next(row for row in rows if row.grant.client_name == client)
        return row.package_id or row.grant.grant_id


def detail(key: str, *streams: str, **members: Any) -> dict[str, Any]:
    return {
        "type": DETAIL_TYPE,
        "source": {"id": f"{REGISTRY}/{key}"},
        "purpose_code": "https://pdpp.dev/purpose/assistant",
        "access_mode": "continuous",
        "streams": [{"name": name} for name in streams],
        **members,
    }


State = Callable[[Walk], None]
BEFORE: dict[str, State] = {}  # nobody is signed in
EMPTY: dict[str, State] = {}  # the owner is, where nothing is yet
FULL: dict[str, State] = {}  # and where everything is


def _at(states: dict[str, State], **paths: str) -> None:
    for name, path in paths.items():
        states[name.strip("_").replace("_", "-")] = lambda walk, path=path, states=states: walk.go(
            path, walk.full if states is FULL else walk.empty
        )


def _state(states: dict[str, State]) -> Callable[[State], State]:
    def known(walk: State) -> State:
        states[walk.__name__.replace("_", "-")] = walk
        return walk

    return known


def sign_up(walk: Walk) -> None:
    walk.go("/welcome", walk.empty)
    walk.page.get_by_label("Setup code").fill(walk.empty.setup_code or "")
    walk.page.get_by_label("Password").fill(PASSWORD)
    walk.page.get_by_label("The same again").fill(PASSWORD)
    walk.click("Set the password")


def sign_in(walk: Walk) -> None:
    walk.go("/sign-in")
    walk.page.get_by_label("Password").fill(PASSWORD)
    walk.click("Sign in")


def every_state() -> Iterator[tuple[str, State]]:
    """In an order in which one browser can go: both homes are at the same host, so they share a cookie."""
    for number, (states, door) in enumerate(((BEFORE, None), (EMPTY, sign_up), (FULL, sign_in))):
        for name, state in states.items():
            yield f"{number}-{name}", lambda walk, state=state, door=door: walk.through(door, state)


# At the door ----------------------------------------------------------------------------------------------------------

_at(BEFORE, welcome="/welcome")


@_state(BEFORE)
def welcome_refused(walk: Walk) -> None:
    walk.go("/welcome", walk.empty)
    walk.page.get_by_label("Setup code").fill("not the code")
    walk.page.get_by_label("Password").fill(PASSWORD)
    walk.page.get_by_label("The same again").fill("something else entirely")
    walk.click("Set the password")


@_state(BEFORE)
def invited(walk: Walk) -> None:
    """As whoever was sent a link sees it, where several owners share a server."""
    with patch.object(SignIn, "is_invited", return_value=True):
        walk.go("/invited?link=once", walk.empty)


@_state(BEFORE)
def signing_in(walk: Walk) -> None:
    walk.go("/sign-in")


@_state(BEFORE)
def signing_in_refused(walk: Walk) -> None:
    walk.go("/sign-in")
    walk.page.get_by_label("Password").fill("not the password")
    walk.click("Sign in")


# Nothing yet ----------------------------------------------------------------------------------------------------------

_at(
    EMPTY,
    home="/",
    clients="/clients",
    activity="/activity",
    sources="/sources",
    search="/search",
    connect="/connect",
    timeline="/timeline",
    import_="/import",
    follow="/follow",
)


@_state(EMPTY)
def consent(walk: Walk) -> None:
    walk.asked(walk.empty)


# A whole life ---------------------------------------------------------------------------------------------------------

_at(FULL, home="/", clients="/clients")


@_state(FULL)
def client(walk: Walk) -> None:
    walk.go(f"/clients/{walk.grant_of(AGENT)}")


@_state(FULL)
def client_ending(walk: Walk) -> None:
    walk.go(f"/clients/{walk.grant_of(AGENT)}")
    walk.click("End its access")


@_state(FULL)
def client_change(walk: Walk) -> None:
    walk.go(f"/clients/{walk.grant_of(AGENT)}/change")


@_state(FULL)
def client_changing(walk: Walk) -> None:
    walk.go(f"/clients/{walk.grant_of(AGENT)}/change")
    walk.page.locator('input[name="stream"]').nth(1).uncheck()
    walk.click("Show what this leaves")


@_state(FULL)
def client_preview(walk: Walk) -> None:
    walk.go(f"/clients/{walk.grant_of(AGENT)}/preview")


@_state(FULL)
def client_named(walk: Walk) -> None:
    walk.go(f"/clients/{walk.grant_of(SCRIPT)}")
    walk.page.locator("summary", has_text="name and").click()
    walk.page.get_by_label("Name").fill("The weekly letter")
    walk.page.get_by_label("Note").fill("Writes me what I noted in the week. Made by Tom; ends with the year.")
    walk.click("Keep them")


@_state(FULL)
def client_change_ended(walk: Walk) -> None:
    walk.go(f"/clients/{walk.grant_of(FORMER)}/change")


@_state(FULL)
def client_why(walk: Walk) -> None:
    walk.go(f"/records/{walk.record(('markdown', 'Commonplace'), 'notes', 'break option')}")
    walk.page.get_by_role("link", name="Why could it read this?").first.click()


@_state(FULL)
def client_ended(walk: Walk) -> None:
    walk.go(f"/clients/{walk.grant_of(FORMER)}")


_at(FULL, follow="/follow", activity="/activity", activity_none="/activity?request=req_0", sources="/sources")


@_state(FULL)
def activity_kept(walk: Walk) -> None:
    walk.go("/activity")
    walk.page.get_by_text("The log is kept").first.click()


@_state(FULL)
def sources_followed(walk: Walk) -> None:
    followed = walk.full.owner.live
    for name, trouble in (
        (MAIL, ""),
        ("caldav nora", "imap.example.org did not answer for 30 seconds. It is tried again by itself."),
    ):
        followed.add(name, "imap", {"host": "imap.example.org"})
        if trouble:
            followed.went_wrong(followed.named(name), trouble)
        else:
            followed.went_well(followed.named(name), {}, "12 accepted, 0 rejected", timedelta(minutes=5))
    walk.go("/sources")
    walk.page.locator("h2", has_text="Followed").scroll_into_view_if_needed()
    for one in followed.all():
        followed.stop(one.name)


@_state(FULL)
def follow_refused(walk: Walk) -> None:
    walk.go("/follow")
    walk.page.get_by_label("Address of the server").fill("127.0.0.1")
    walk.page.get_by_label("User").fill(MAIL)
    walk.page.get_by_label("Password").fill("not the password")
    walk.page.locator("summary", has_text="not usual").click()
    walk.page.get_by_label("Port").fill("1")
    walk.click("Try it, and follow it")


@_state(FULL)
def source(walk: Walk) -> None:
    walk.go(f"/sources/{walk.full.connections['mail', MAIL]}")


@_state(FULL)
def source_rejected(walk: Walk) -> None:
    walk.go(f"/sources/{walk.full.connections['ofx', 'Maasbank']}")


@_state(FULL)
def stream_messages(walk: Walk) -> None:
    walk.go(f"/sources/{walk.full.connections['mail', MAIL]}/messages")


@_state(FULL)
def stream_talk(walk: Walk) -> None:
    walk.go(f"/sources/{walk.full.connections['mail', MAIL]}/messages")
    walk.page.get_by_role("link", name="the talk").nth(1).click()


@_state(FULL)
def stream_around(walk: Walk) -> None:
    walk.go(f"/records/{walk.record(('telegram', '@noralindqvist'), 'messages', 'keys')}")
    walk.page.get_by_role("link", name="What stands around it").click()


@_state(FULL)
def stream_calendar(walk: Walk) -> None:
    walk.go(f"/sources/{walk.full.connections['calendar', 'Nora']}/occurrences?month=2025-03")


@_state(FULL)
def stream_money(walk: Walk) -> None:
    walk.go(f"/sources/{walk.full.connections['ofx', 'Maasbank']}/transactions?month=2026-02")


@_state(FULL)
def stream_notes(walk: Walk) -> None:
    walk.go(f"/sources/{walk.full.connections['markdown', 'Commonplace']}/notes")


_at(FULL, timeline="/timeline?day=2026-03-12", timeline_nothing="/timeline?day=1999-01-01")
_at(FULL, search="/search", search_found="/search?q=lease+break", search_nothing="/search?q=xylophone+zeppelin")


@_state(FULL)
def record_mail(walk: Walk) -> None:
    walk.go(f"/records/{walk.record(('mail', MAIL), 'messages', 'letter came deposit keys')}")


@_state(FULL)
def record_note(walk: Walk) -> None:
    walk.go(f"/records/{walk.record(('markdown', 'Commonplace'), 'notes', 'break option')}")


@_state(FULL)
def record_window(walk: Walk) -> None:
    walk.go(f"/records/{walk.record(('markdown', 'Commonplace'), 'notes', 'break option')}?field=text&from=400")


@_state(FULL)
def record_gone(walk: Walk) -> None:
    walk.go(f"/records/{walk.full.connections['mail', MAIL]}/messages:gone")


_at(FULL, import_="/import", import_gone="/import/0000000000000000")


def _choose_files(walk: Walk, *names: str) -> None:
    walk.go("/import")
    walk.page.get_by_label("Files").set_input_files([walk.full.exports / name for name in names])
    walk.click("Look what is in it")
    walk.page.get_by_text("This is what was found").or_(walk.page.get_by_text("Nothing in it can")).wait_for()


@_state(FULL)
def import_found(walk: Walk) -> None:
    _choose_files(walk, *walk.full.samples)


@_state(FULL)
def import_found_with_others(walk: Walk) -> None:
    """An export in which an importer's own zip lies, as people pack their downloads."""
    with ZipFile(walk.full.exports / "life.zip", "w") as life:
        life.write(walk.full.exports / "choir.ics", "choir.ics")
        life.write(next(walk.full.exports.glob("*Slack*.zip")), "slack.zip")
    _choose_files(walk, "life.zip")


@_state(FULL)
def import_done(walk: Walk) -> None:
    _choose_files(walk, *walk.full.samples)
    for box in walk.page.get_by_label("Import it").all():
        box.check()
    walk.click("Import")
    walk.page.get_by_role("link", name="Bring more in").wait_for()
    _forget_choir(walk)


def _bring_choir(walk: Walk, name: str, text: str) -> None:
    walk.full.exports.joinpath(name).write_text(text, "utf-8")
    _choose_files(walk, name)
    walk.click("Import")
    walk.page.get_by_role("link", name="Bring more in").wait_for()


def _bring_less(walk: Walk) -> None:
    _bring_choir(walk, "choir.ics", ics(*map(event, "abcd"), name="Choir"))
    _bring_choir(walk, "choir-1.ics", ics(event("a"), stamp=TODAY, name="Choir"))


def _forget_choir(walk: Walk) -> None:
    """The other states know nine accounts."""
    brought = [source for source in walk.full.owner.sources() if source.name == "Choir"]
    walk.full.owner.remove_source(brought[0].connection_id)


@_state(FULL)
def import_removes_much(walk: Walk) -> None:
    _bring_less(walk)
    _forget_choir(walk)


@_state(FULL)
def import_removed(walk: Walk) -> None:
    _bring_less(walk)
    walk.click("Remove 6 records")
    walk.page.get_by_text("removed that it has no longer").wait_for()
    _forget_choir(walk)


@_state(FULL)
def import_nothing(walk: Walk) -> None:
    walk.full.exports.joinpath("statement.pdf").write_bytes(b"%PDF-1.7")
    _choose_files(walk, "statement.pdf")


@_state(FULL)
def source_removing(walk: Walk) -> None:
    walk.go(f"/remove/{walk.full.connections['mail', MAIL]}")


_at(FULL, connect="/connect", device="/device", unknown="/no-such-page", oauth_error="/oauth/authorize?client_id=x")


@_state(FULL)
def device_refused(walk: Walk) -> None:
    walk.go("/device")
    walk.page.get_by_label("Code").fill("AAAA-BBBB")
    walk.click("Continue")


@_state(FULL)
def consent_open(walk: Walk) -> None:
    walk.asked()


@_state(FULL)
def consent_nothing_chosen(walk: Walk) -> None:
    walk.asked()
    walk.click("Show what this gives")


def _choose(walk: Walk, account: tuple[str, str], way: str) -> None:
    connection = walk.full.connections[account]
    card = walk.page.locator("fieldset", has=walk.page.locator(f'input[value$=":{connection}"]'))
    card.get_by_label(way).check()


@_state(FULL)
def consent_chosen(walk: Walk) -> None:
    walk.asked()
    _choose(walk, ("calendar", "Nora"), "When you are busy, and nothing else")
    _choose(walk, ("mail", MAIL), "Who writes to whom and about what, no texts, no files")
    walk.click("Show what this gives")


@_state(FULL)
def consent_ends(walk: Walk) -> None:
    walk.asked()
    _choose(walk, ("calendar", "Nora"), "Everything")
    _choose(walk, ("mail", MAIL), "Who writes to whom and about what, no texts, no files")
    walk.page.locator(f'[name$=":{walk.full.connections["mail", MAIL]}"][name^="until."]').fill("2030-01-31")
    walk.click("Show what this gives")


@_state(FULL)
def consent_filtered(walk: Walk) -> None:
    walk.asked()
    _choose(walk, ("calendar", "Nora"), "When you are busy, and nothing else")
    walk.page.get_by_label("Only sources called").fill("slack")
    walk.click("Filter")


@_state(FULL)
def consent_asked(walk: Walk) -> None:
    said = {
        "purpose_description": "To find what you have forgotten.",
        "retention": {"max_duration": "P30D", "on_expiry": "delete"},
    }
    walk.asked(None, detail("mail", "messages", **said), detail("markdown", "notes"))


@_state(FULL)
def consent_training(walk: Walk) -> None:
    walk.asked(None, detail("markdown", "notes", purpose_code="https://pdpp.dev/purpose/ai_training"))
