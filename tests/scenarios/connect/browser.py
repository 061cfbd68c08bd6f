"""The owner at a browser: follows where it is sent, signs in, chooses, and says yes or no."""

from typing import Any
from urllib.parse import urlsplit

import httpx2

from pdpp_server.owner.sign_in import SignIn
from tests.scenarios.console.visitor import PASSWORD, Pairs, Visitor, fields_of


class Browser(Visitor):
    """`open` is what the system's browser would do with an address. What it came to is in `ended`."""

    def __init__(self, *picks: str, answer: str = "approve", setup_code: str | None = None) -> None:
        http = httpx2.Client(verify=False)  # no TLS here, and trust is dear to load
        super().__init__(http, None)  # pyright: ignore[reportArgumentType] - it knows no door but the page
        self.picks, self.answer, self.setup_code = picks, answer, setup_code
        self.server = ""
        self.opened: list[str] = []
        self.ended: httpx2.Response | None = None

    def open(self, address: str) -> bool:
        self.opened.append(address)
        response = self._followed(self.get(address))
        if response.url.path == "/device":
            response = self._followed(self.send(response.text, "/device"))
        if response.status_code == 200:
            response = self._followed(self._decided(response.text))
        self.ended = response
        self.http.close()
        return True

    def post(self, path: str, fields: Pairs, **headers: str) -> httpx2.Response:
        return super().post(self.server + path, fields, Origin=self.server, **headers)

    def _decided(self, page: str) -> httpx2.Response:
        if self.answer == "deny" or 'value="approve"' in page:
            return self.send(page, "/consent", action=self.answer)
        fields = [*fields_of(page, "/consent"), ("action", "review"), *(("pick", pick) for pick in self.picks)]
        return self.send(self.post("/consent", fields).text, "/consent", action="approve")

    def _followed(self, response: httpx2.Response) -> Any:
        while response.is_redirect:
            target = str(response.url.join(response.headers["location"]))
            response = self.get(target)
            parts = urlsplit(target)
            if parts.path in {"/sign-in", "/welcome"}:
                self.server = f"{parts.scheme}://{parts.netloc}"
                code = {"code": self.setup_code, "again": PASSWORD} if parts.path == "/welcome" else {}
                response = self.send(response.text, parts.path, password=PASSWORD, **code)
        return response


def with_password(services: Any) -> None:
    SignIn(services).set_password(PASSWORD)
