"""Whether documents of clients can be had from here: learnt from the tries themselves, never by asking the internet."""

from collections.abc import Callable
from datetime import datetime, timedelta

from pdpp_server.authorization_server.documents import NoWayOut
from pdpp_server.model.authorization import ClientDocument

Fetch = Callable[[str], ClientDocument]
SILENT, TRUSTED = timedelta(minutes=10), timedelta(hours=1)


class WayOut:
    """Reads documents, and remembers how that went. `is_used` is the owner's word."""

    def __init__(self, fetch: Fetch, now: Callable[[], datetime], *, is_used: bool = True) -> None:
        self._fetch, self._now, self.is_used = fetch, now, is_used
        self._worked: datetime | None = None
        self._failed: datetime | None = None

    @property
    def is_advertised(self) -> bool:
        """Whether clients are told that a document is enough. For a while after a failure they are not, and register.

        A host that does not exist fails like a network that does not: where another document was had lately, it is
        the host, and whoever names one changes nothing for others.
        """
        if not self.is_used:
            return False
        failed, worked = self._failed, self._worked
        return failed is None or self._now() - failed >= SILENT or (worked is not None and failed - worked < TRUSTED)

    def fetch(self, url: str) -> ClientDocument:
        try:
            document = self._fetch(url)
        except NoWayOut:
            self._failed = self._now()
            raise
        self._worked, self._failed = self._now(), None
        return document
