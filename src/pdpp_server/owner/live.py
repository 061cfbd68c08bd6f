"""The owner's live sources: added, listed, stopped; how each try went; and their passwords, kept where nobody looks."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import Any

from pdpp_server.errors import Conflict, NotFound
from pdpp_server.model.live import AGREED, LiveSource, next_try
from pdpp_server.model.times import iso
from pdpp_server.owner.secrets import Secrets
from pdpp_server.reads.services import Services
from pdpp_server.store.records import live


class LiveSources:
    """Those of one home."""

    def __init__(self, services: Services, home: Path) -> None:
        self._services, self._home = services, home

    def all(self) -> list[LiveSource]:
        with self._services.database.reading() as reading:
            return live.list_live(reading)

    def named(self, name: str) -> LiveSource:
        """Raises: NotFound."""
        found = next((one for one in self.all() if one.name == name), None)
        if found is None:
            raise NotFound(f"No live source is called {name!r}.", remedy="`pdpp sources` shows them.")
        return found

    def add(self, name: str, kind: str, settings: Mapping[str, Any], secret: str | None = None) -> None:
        """Raises: Conflict where the name is taken."""
        if any(one.name == name for one in self.all()):
            raise Conflict(
                f"A live source is called {name!r} already.",
                remedy="Choose another with --name, or end that one with `pdpp sources stop`.",
            )
        sealed = None if secret is None else self._secrets.keep(name, secret)
        with self._services.database.writing() as writer:
            live.add_live(writer, name, kind, settings, sealed)

    def stop(self, name: str) -> None:
        """It is not asked again; what it brought stays. Raises: NotFound."""
        self.named(name)
        with self._services.database.writing() as writer:
            live.remove_live(writer, name)
        self._secrets.forget(name)

    def secret(self, name: str) -> str:
        """Raises: NotFound where it was taken out of the keyring."""
        with self._services.database.reading() as reading:
            sealed = live.sealed_secret(reading, name)
        return self._secrets.open(name, sealed)

    def keep_secret(self, name: str, secret: str) -> None:
        """Another one in place of the last."""
        sealed = self._secrets.keep(name, secret)
        with self._services.database.writing() as writer:
            live.keep_sealed(writer, name, sealed)

    def renewing_secrets(self) -> AbstractContextManager[None]:
        """While a secret is read, made new elsewhere and kept: a second one at it would use one that is spent."""
        return self._services.database.turns.in_turn("secrets")

    @property
    def _secrets(self) -> Secrets:
        database = self._services.database
        return Secrets(database.keys, str(self._home.absolute()), is_shared=database.is_elsewhere)

    def due(self) -> list[LiveSource]:
        now = iso(self._services.now())
        return [one for one in self.all() if one.is_due(now)]

    def due_now(self, name: str) -> None:
        """Something is known to have changed there."""
        with self._services.database.writing() as writer:
            live.note_due(writer, name)

    def ask_now(self, name: str) -> None:
        """The owner wants it, however the last try went. Raises: NotFound."""
        self.named(name)
        with self._services.database.writing() as writer:
            live.note_asked_for(writer, name)

    def let_go(self, name: str) -> None:
        """What it has no longer, and what was withheld, may go; it is asked at once. Raises: NotFound."""
        source = self.named(name)
        with self._services.database.writing() as writer:
            live.keep_state(writer, name, {**source.state, AGREED: source.withheld})
            live.note_asked_for(writer, name)

    def read_folders_again(self) -> None:
        """What was read of them may be undone: what they hold now comes again."""
        for source in self.all():
            if "seen" in source.state:
                with self._services.database.writing() as writer:
                    live.keep_state(writer, source.name, {**source.state, "seen": ""})

    def held(self) -> AbstractContextManager[None]:
        """While this process asks; another one that is at it is not disturbed. Raises: Conflict."""
        return self._services.database.turns.held("live")

    def went_well(self, source: LiveSource, state: Mapping[str, Any], said: str, pause: timedelta) -> None:
        now = self._services.now()
        with self._services.database.writing() as writer:
            live.note_good(writer, source.name, state, said, iso(now), iso(next_try(now, pause, 0)))

    def went_wrong(self, source: LiveSource, trouble: str, pause: timedelta = timedelta()) -> None:
        """`pause` is what the source itself asks for."""
        now = self._services.now()
        next_at = next_try(now, timedelta(), source.failures + 1, pause)
        with self._services.database.writing() as writer:
            live.note_bad(writer, source.name, trouble, iso(now), iso(next_at))
