"""What pages are made of: the owner's desks, and the clock."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, tzinfo

from pdpp_server.console.page import Handed, Page, SeeOther
from pdpp_server.console.visit import Visit
from pdpp_server.importers.uploads import Uploads
from pdpp_server.model.pending import Pending
from pdpp_server.owner.consent import ConsentDesk
from pdpp_server.owner.desk import Owner
from pdpp_server.owner.own_reader import OwnReads
from pdpp_server.owner.sign_in import SignIn


@dataclass(frozen=True, slots=True)
class Desks:
    sign_in: SignIn
    owner: Owner
    reads: OwnReads
    consent: ConsentDesk
    public_url: str | None
    decided_at: str | None  # the server that says who may read; None where it is this one
    now: Callable[[], datetime]
    zone: tzinfo  # of the owner's clock on the wall
    uploads: Uploads
    upload_bytes: int  # the most that one takes
    language: str = "en"
    asks_name: Callable[[], bool] = lambda: False  # whether there are several owners, so that one must say who comes

    def local_now(self) -> datetime:
        return self.now().astimezone(self.zone)


# A page of records is still pending: it leaves with its line in the log.
Shaped = Page | SeeOther | Pending[Page] | Pending[Handed]
PageHandler = Callable[[Desks, Visit], Shaped]
