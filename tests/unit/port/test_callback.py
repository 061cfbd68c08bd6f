"""The way back from a browser."""

from http.client import HTTPConnection
from urllib.parse import urlsplit

from pdpp_server.port.callback import PAGE, PATH, Callback, waiting


def get(callback: Callback, path: str) -> tuple[int, bytes, str | None]:
    connection = HTTPConnection(urlsplit(callback.address).netloc, timeout=10)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.getheader("Cache-Control")
    finally:
        connection.close()


def test_what_a_browser_brings_is_given_and_the_person_sees_that_it_arrived() -> None:
    with waiting() as callback:
        assert urlsplit(callback.address).hostname == "127.0.0.1"
        assert get(callback, f"{PATH}?code=a%20b&state=s&state=t") == (200, PAGE, "no-store")
        assert callback.wait(10) == {"code": "a b", "state": "t"}


def test_another_address_is_nobody_and_nobody_in_time_is_none() -> None:
    with waiting() as callback:
        assert get(callback, "/favicon.ico?code=stolen") == (404, b"", "no-store")
        assert callback.wait(0) is None
        assert callback.wait(-5) is None
