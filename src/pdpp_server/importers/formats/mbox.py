"""Mail archives (.mbox): one message after another out of a stream of any length."""

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

CHUNK_BYTES = 1_048_576
MARK = b"\xef\xbb\xbf"  # that some editors put before a text
MESSAGE_BYTES_MAX = 50 * 1024 * 1024  # twice what the large mail services accept

# A line of text may begin with "From " too. The line between two messages holds sender and time in a form that no
# sentence has; where a program writes another form, headers follow it; and where it writes neither sender nor time, or
# a sender alone, headers follow that only mail has.
_MAIL_HEADERS = (
    rb"arc-[a-z-]+|authentication-results|bcc|cc|content-type|date|delivered-to|dkim-signature|envelope-to|from|"
    rb"in-reply-to|list-[a-z-]+|message-id|mime-version|received|references|reply-to|return-path|sender|status|subject|to|"
    rb"user-agent|x-[!-9;-~]+"
)
_SEPARATOR = re.compile(
    rb"From (?:\S{1,300} +[A-Z][a-z]{2} [A-Z][a-z]{2} +[0-9]{1,2} [0-9]{2}:[0-9]{2}[0-9:+A-Z -]{0,20} [0-9]{4}\s*?\n"
    rb"|[^\n]{0,500}[0-9]{1,2}:[0-9]{2}[^\n]{0,500}\n(?=[!-9;-~]+[ \t]*:)"
    rb"|(?:-|[^\s@]{1,300}@[^\s@]{1,300}|MAILER-DAEMON)?[ \t]{0,9}\r?\n(?=(?i:" + _MAIL_HEADERS + rb")[ \t]*:))"
)
_SEPARATOR_BYTES = 1024 + 256  # enough to decide
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)


class StoredMail(NamedTuple):
    """One message as it lies in the archive; `raw` is None where it is too long to be read."""

    number: int  # from 1
    separator: bytes  # the line before it: sender and time of arrival
    raw: bytes | None


def is_mbox(start: bytes) -> bool:
    """By its first bytes."""
    return _SEPARATOR.match(start.removeprefix(MARK).lstrip(b"\r\n")) is not None


def stored_messages(stream: BinaryIO) -> Iterator[StoredMail]:
    """What stands before the first separator is a message too, unless it is blank."""
    held, separator, number = bytearray(b"\n"), b"", 0
    searched, is_long, is_end, is_first = 0, False, False, True
    while not is_end:
        chunk = stream.read(CHUNK_BYTES)
        held += chunk.removeprefix(MARK) if is_first else chunk
        is_first = False
        is_end = not chunk
        while found := _separator(held, searched, is_end):
            if separator or held[: found[0]].strip():
                number += 1
                yield _stored(number, separator, held, found[0], is_long)
            separator = bytes(held[slice(*found)])
            del held[: found[1] - 1]  # but its line end, before which the next one may stand
            searched, is_long = 0, False
        searched = max(0, len(held) - _SEPARATOR_BYTES)
        if len(held) > MESSAGE_BYTES_MAX:
            is_long = True
            del held[:searched]
            searched = 0
    if separator or held.strip():
        yield _stored(number + 1, separator, held, len(held), is_long)


def _separator(held: bytearray, at: int, is_end: bool) -> tuple[int, int] | None:
    while (at := held.find(b"\nFrom ", at)) >= 0:
        if found := _SEPARATOR.match(held, at + 1):
            return found.span()
        if not is_end and len(held) - at < _SEPARATOR_BYTES:
            return None  # what comes next will tell
        at += 1
    return None


def _stored(number: int, separator: bytes, held: bytearray, end: int, is_long: bool) -> StoredMail:
    if is_long or end > MESSAGE_BYTES_MAX:
        return StoredMail(number, separator, None)
    raw = bytes(memoryview(held)[1:end])  # behind the line end of the separator
    return StoredMail(number, separator, _QUOTED.sub(rb"\1", raw) if b">From " in raw else raw)
