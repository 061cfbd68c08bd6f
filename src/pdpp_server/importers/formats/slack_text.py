"""The text of a Slack message as people see it: names for ids, labels for links."""

import re
from collections.abc import Mapping
from html import unescape

_MARKED = re.compile(r"<([@#!]|(?=[a-z][a-z0-9+.-]*:))([^<>|]*)(?:\|([^<>]*))?>")


def readable(text: str, people: Mapping[str, str], channels: Mapping[str, str]) -> str:
    """Mentions by name, links with their label, and `&amp;` as it was typed."""

    def shown(found: re.Match[str]) -> str:
        sort, target, label = found[1], found[2], found[3] or ""
        match sort:
            case "@":
                return f"@{(people.get(target) or label or target).lstrip('@')}"
            case "#":
                return f"#{(label or channels.get(target) or target).lstrip('#')}"
            case "!":
                return label or f"@{target.partition('^')[0]}"
            case _:
                address = target.removeprefix("mailto:")
                return f"{label} ({target})" if label and label not in (target, address) else address

    return unescape(_MARKED.sub(shown, text))
