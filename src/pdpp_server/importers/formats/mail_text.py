"""What somebody wrote in a mail, apart from what they quoted and how they signed."""

import re
from collections.abc import Sequence

LINE_CHARS = 300  # a longer line separates nothing
BLANK_LINES = 3  # at most between a quote and the line that says who wrote it
ATTRIBUTION_LINES = 3  # a mail program may break "On Monday, Ann <ann@example.org> wrote:" so often

_QUOTED = re.compile(r"\s{0,3}>")
_WROTE = re.compile(
    r"(?:wrote|a écrit|escribió|ha scritto|escreveu|kirjoitti|napisał\(?a?\)?|写道|(?:schrieb|schreef|skrev)\b.{0,200})"
    r"\s*[:\uff1a]\s*\Z",
    re.IGNORECASE,
)
_STARTS = re.compile(r"\s*(?:On|Am|Le|El|Il|Em|Op|Den|Dnia|W dniu|在)\s", re.IGNORECASE)
_ORIGINAL = re.compile(
    r"\s*-{3,}\s*(?:Original Message|Original Appointment|Ursprüngliche Nachricht|Message d'origine|Mensaje original)"
    r"\s*-{3,}\s*",
    re.IGNORECASE,
)
_HEAD_FROM = re.compile(r"\s*\*?(?:From|Von|De|Da|Van|Från|Fra)\s?:\*?\s+\S", re.IGNORECASE)
_HEAD_SENT = re.compile(
    r"\s*\*?(?:Sent|Date|Gesendet|Datum|Envoyé|Enviado(?: el)?|Inviato|Verzonden|Skickat|Sendt)\s?:", re.IGNORECASE
)
_FORWARDED = re.compile(
    r"\s*(?:-{3,}|Begin|Anfang).*(?:forwarded|weitergeleitet|transféré|reenviado|inoltrato)", re.IGNORECASE
)
_SENT_FROM = re.compile(
    r"\s*(?:Sent from my \w+|Von meinem \w+ gesendet|Envoyé de mon \w+|Get Outlook for \w+).{0,60}", re.IGNORECASE
)
_GAPS = re.compile(r"\n{3,}")
_RULE = re.compile(r"\s*_{10,}\s*")


def written(text: str) -> str:
    """The text without quoted replies and signature; all of it where nothing else would be left."""
    lines = text.split("\n")
    own = _unquoted(lines[: _end_of_own(lines)])
    while own and (not own[-1].strip() or _SENT_FROM.fullmatch(own[-1])):
        own.pop()
    return _GAPS.sub("\n\n", "\n".join(own)).strip() or text.strip()


def _end_of_own(lines: Sequence[str]) -> int:
    """Where the signature, or the copy of the message that is answered, begins. What is forwarded stays."""
    for number, line in enumerate(lines):
        if len(line) > LINE_CHARS:
            continue
        if line in ("-- ", "--", "-- \r") or _ORIGINAL.fullmatch(line):
            return number
        if _FORWARDED.match(line):
            return len(lines)
        if number and _HEAD_FROM.match(line) and any(_HEAD_SENT.match(next) for next in lines[number + 1 : number + 3]):
            return number - 1 if _RULE.fullmatch(lines[number - 1]) else number
    return len(lines)


def _unquoted(lines: Sequence[str]) -> list[str]:
    own: list[str] = []
    for number, line in enumerate(lines):
        if not _QUOTED.match(line):
            own.append(line)
        elif number and not _QUOTED.match(lines[number - 1]):
            _drop_attribution(own)
    return own


def _drop_attribution(own: list[str]) -> None:
    """The line above a quote that says who wrote it, when there is one."""
    end = len(own)
    while end and len(own) - end < BLANK_LINES and not own[end - 1].strip():
        end -= 1
    if end and _WROTE.search(own[end - 1][-LINE_CHARS:]):
        last = end - 1
        starts = (start for start in range(last, max(-1, last - ATTRIBUTION_LINES), -1) if _STARTS.match(own[start]))
        del own[next(starts, last) :]
