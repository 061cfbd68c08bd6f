"""Stands before a server: remembers what passed, and shows a bearer for those who have no way to show one."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Door:
    """`passed` holds the method and the status of every request; `token`, once set, is shown for everybody."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.passed: list[tuple[str, int]] = []
        self.token: str | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self.token:
            scope["headers"] = [*scope["headers"], (b"authorization", f"Bearer {self.token}".encode())]

        async def passing(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.passed.append((scope["method"], message["status"]))
            await send(message)

        await self._app(scope, receive, passing)
