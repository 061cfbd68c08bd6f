"""What left, in the owner's words: who read what, when."""

from collections.abc import Iterable, Mapping

from pdpp_server.evidence.words import counted
from pdpp_server.model.activity import Disclosure
from pdpp_server.model.grants import Grant

PREVIEW_CLIENT, PAGES_CLIENT, COMMAND_CLIENT = "owner-preview", "owner-pages", "owner-command"
OWN_NAMES = {
    PREVIEW_CLIENT: "you, as a preview",
    PAGES_CLIENT: "you, on your pages",
    COMMAND_CLIENT: "you, by the command",
}


def reader_names(grants: Iterable[Grant]) -> dict[str, str]:
    """Client id to what the owner calls that reader."""
    names = {grant.client_id: grant.client_name or grant.client_id for grant in grants}
    return {**names, **OWN_NAMES}


def who_read(disclosure: Disclosure, names: Mapping[str, str]) -> str:
    return names.get(disclosure.client_id or "", disclosure.client_id or disclosure.token_kind)


def is_own(disclosure: Disclosure) -> bool:
    """Whether the owner looked, on pages, in a preview or by a tool."""
    return disclosure.token_kind == "owner" or disclosure.client_id == PREVIEW_CLIENT


def what_left(disclosure: Disclosure) -> str:
    match disclosure.records:
        case ():
            return f"what there is: {', '.join(disclosure.streams) or 'nothing'}"
        case (record,):
            return f"{record} ({', '.join(disclosure.fields)})" if disclosure.fields else record
        case records:
            return f"{counted(len(records), 'record')} of {', '.join(disclosure.streams)}"


def when_read(disclosure: Disclosure) -> str:
    return f"{disclosure.at[:10]} {disclosure.at[11:19]} UTC"
