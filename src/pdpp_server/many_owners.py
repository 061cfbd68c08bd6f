"""The server of everybody who has a share of one database."""

from collections import Counter, OrderedDict
from contextlib import suppress
from dataclasses import replace
from functools import partial
from threading import Event, Lock, Thread
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from pdpp_server.authorization_server.way_out import Fetch
from pdpp_server.errors import PdppError
from pdpp_server.http.by_owner import Arrival, ByOwner, arrival
from pdpp_server.http.metrics import Metrics
from pdpp_server.http.rate import TOLD_EVERY_SECONDS
from pdpp_server.http.threads import Threads
from pdpp_server.model.owners import HOUSE
from pdpp_server.one_owner import OwnApp, closing, services_on
from pdpp_server.settings import Settings
from pdpp_server.store.opened import chosen_owner, open_owners
from pdpp_server.wire.discovery import AUTHORIZE

APPS_MAX = 500  # owners whose app is kept ready
OF_NOBODY = {"/livez", "/readyz", "/healthz", "/metrics"}  # what is asked of the process


class OwnersApp(Starlette):
    """The server of everybody who has a share of a database: each request is answered by the app of its owner.

    Whoever is nobody's yet comes into the house: it lets clients register, and asks people for their names. The apps of
    those who came last are kept ready.
    """

    def __init__(self, settings: Settings, fetch: Fetch | None = None) -> None:
        super().__init__(lifespan=closing)
        self._settings, self._fetch = settings, fetch
        self._owners = open_owners(settings)
        try:
            self._owners.require_keys()
        except PdppError:
            self._owners.close()
            raise
        chosen = None if len(self._owners.every()) > 1 else chosen_owner(self._owners, None)
        self._by_owner = ByOwner(self._owners)
        self._threads = Threads(reads_wait=True)
        self._apps: OrderedDict[int, OwnApp] = OrderedDict()
        self._inside: Counter[OwnApp] = Counter()  # requests that are being answered
        self._making, self._counting, self._metrics, self._stopping = Lock(), Lock(), Metrics(), Event()
        self._telling = Thread(target=self._tell_now_and_then, name="rates", daemon=True)
        self._app(HOUSE)
        self.state.sign_in = self._app(HOUSE if chosen is None else chosen.number).state.sign_in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        house = self._apps[HOUSE]
        if scope["path"] in OF_NOBODY:
            await house(scope, receive, send)
            return
        arrived = await arrival(scope, receive)
        try:
            app = await self._threads.flow(partial(self._app_for, scope["path"], arrived))
        except PdppError as refusal:
            await house.refuse(refusal, scope, arrived.receive, send)
            return
        answer: ASGIApp = app
        if app is house and (scope["path"], scope["method"]) == (AUTHORIZE, "GET"):
            to = quote(f"{scope['path']}?{scope['query_string'].decode('latin-1')}", safe="")
            answer = RedirectResponse(f"/sign-in?next={to}", 303)
        try:
            await answer(scope, arrived.receive, send)
        finally:
            with self._counting:
                self._inside[app] -= 1

    def begin(self) -> None:
        self._telling.start()

    def close(self) -> None:
        self._stopping.set()
        if self._telling.is_alive():
            self._telling.join()
        for app in self._apps.values():
            app.close()
        self._threads.close()
        self._owners.close()

    def _tell_now_and_then(self) -> None:
        """One thread for the rates of all owners. Of who was removed meanwhile nothing is written down again."""
        while not self._stopping.wait(TOLD_EVERY_SECONDS):
            for number, app in list(self._apps.items()):
                if app.rates.has_news:
                    with suppress(PdppError):  # told later
                        self._tell(number, app)

    def _tell(self, number: int, app: OwnApp) -> None:
        if number == HOUSE or self._owners.numbered(number) is not None:
            app.rates.tell()
            return
        with self._making:
            del self._apps[number]
        app.close()
        self._by_owner.forget(number)
        self._metrics.forget_owner(number)

    def _app_for(self, path: str, arrived: Arrival) -> OwnApp:
        """The app that answers, which stays as long as anybody is in it."""
        number = self._by_owner.number_of(path, arrived)
        with self._making:
            app = self._app(number)
            with self._counting:
                self._inside[app] += 1
                leaving = self._leaving()
        for each in leaving:
            with suppress(PdppError):  # what it counted since is not told then
                each.rates.tell()
            each.close()
        return app

    def _app(self, number: int) -> OwnApp:
        app = self._apps.get(number)
        if app is None:
            if number != HOUSE and self._owners.numbered(number) is None:  # who was removed meanwhile
                self._by_owner.forget(number)
                return self._apps[HOUSE]
            app = self._apps[number] = self._made(number)
        self._apps.move_to_end(number)
        return app

    def _leaving(self) -> list[OwnApp]:
        """Of those who came earliest, as many as are too many and have nothing to do."""
        surplus = len(self._apps) - APPS_MAX
        if surplus <= 0:
            return []
        self._inside += Counter()  # forgets those that nobody is in
        idle = [each for each, app in self._apps.items() if each != HOUSE and app not in self._inside and app.is_idle]
        return [self._apps.pop(number) for number in idle[:surplus]]

    def _made(self, number: int) -> OwnApp:
        """Threads and numbers are those of the process."""
        database = self._owners.database(number)
        settings = replace(self._settings, home=database.path)
        return OwnApp(
            settings,
            services_on(database, settings),
            self._fetch,
            closes=True,
            threads=self._threads,
            asks_name=lambda: self._owners.sole() is None,
            is_house=number == HOUSE,
            metrics=self._metrics if number == HOUSE else self._metrics.of_owner(number),
        )
