"""Cursors of a server elsewhere that are too long to be shown: each has a short name here, as long as we run."""

import hashlib
import re
from collections import OrderedDict

from pdpp_server.errors import CursorExpired, SourceUnavailable
from pdpp_server.model.records import Hit

LONG_BYTES, BYTES_MAX = 300, 8192
KEPT_MAX = 256

_NAME = re.compile(r"kept_[0-9a-f]{32}")


class KeptCursors:
    """The names are made from the cursors, so that an answer asked for twice reads the same; the oldest go first."""

    def __init__(self) -> None:
        self._cursors: OrderedDict[str, str] = OrderedDict()

    def shown(self, cursor: str | None) -> str | None:
        """The cursor, or its name where it is long. Raises: SourceUnavailable, where it could not be sent again."""
        if cursor is None or (size := len(cursor.encode("utf-8", "surrogatepass"))) <= LONG_BYTES:
            return cursor
        if size > BYTES_MAX:
            raise SourceUnavailable(f"Its cursor has more than {BYTES_MAX} bytes.")
        name = f"kept_{hashlib.sha256(cursor.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
        self._cursors[name] = cursor
        self._cursors.move_to_end(name)
        if len(self._cursors) > KEPT_MAX:
            self._cursors.popitem(last=False)
        return name

    def shown_of(self, hit: Hit) -> str | None:
        """The same of a hit's own cursor; none where it is too long, for a hit can do without."""
        try:
            return self.shown(hit.cursor)
        except SourceUnavailable:
            return None

    def meant(self, shown: str | None) -> str | None:
        """The cursor that goes to the server. Raises: CursorExpired."""
        if shown is None or not _NAME.fullmatch(shown):
            return shown
        if shown not in self._cursors:
            raise CursorExpired(
                "This cursor stood for a longer one that is no longer kept here.",
                param="cursor",
                remedy="Start again without cursor.",
            )
        return self._cursors[shown]
