"""Health, metrics and access logs."""

import orjson
import pytest
from starlette.testclient import TestClient

from pdpp_server.app import create_app
from pdpp_server.http.metrics import Metrics
from pdpp_server.settings import Settings
from tests.scenarios.resource_server.chats import Api, Chats

M1 = "/v1/streams/messages/records/m1"


def lines_of(capfd: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [orjson.loads(line) for line in capfd.readouterr().err.splitlines()]


def test_a_healthy_server_says_so_to_anyone_and_nothing_else(chats: Chats) -> None:
    with chats.serving() as api:
        response = api.get("/healthz", token=None)

    assert (response.status_code, response.json()) == (200, {"object": "health", "database": True, "log": True})


@pytest.mark.sqlite("takes the disk away")
def test_a_server_that_cannot_read_or_log_is_not_healthy(chats: Chats, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_disk(**_: object) -> None:
        raise OSError

    with chats.serving() as api:
        monkeypatch.setattr(chats.services.database, "reading", no_disk)
        monkeypatch.setattr("pdpp_server.store.log.TemporaryFile", no_disk)
        response = api.get("/healthz", token=None)

    assert (response.status_code, response.json()) == (503, {"object": "health", "database": False, "log": False})


def test_metrics_count_by_operation_and_code_and_time_each_stage(chats: Chats) -> None:
    with chats.serving() as api:
        api.get(M1)
        api.get(M1)
        api.get("/v1/search?q=pizza")
        api.get("/v1/streams/diary/records/zebra")
        response = api.get("/metrics", token=None)

    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = response.text.splitlines()
    assert 'pdpp_requests_total{operation="fetch",code="ok"} 2' in lines
    assert 'pdpp_requests_total{operation="fetch",code="grant_stream_not_allowed"} 1' in lines
    assert "pdpp_rejected_total 1" in lines
    for operation, stage, count in (
        ("fetch", "log", 2),
        ("search", "permit", 1),
        ("search", "read", 1),
        ("fetch", "total", 3),
    ):
        assert f'pdpp_stage_seconds_count{{operation="{operation}",stage="{stage}"}} {count}' in lines
    assert not {"zebra", "pizza", "diary", "m1", "tok_client"} & {*response.text.replace('"', " ").split()}


def test_a_histogram_is_cumulative() -> None:
    metrics = Metrics()
    for seconds in (0.0001, 0.0002, 7.0):
        metrics.add("fetch", "ok", {"read": seconds})
    buckets = [line.split()[-1] for line in metrics.text().splitlines() if "_bucket" in line]

    assert buckets == ["1", *["2"] * 9, "3"]


@pytest.mark.parametrize(
    ("peer", "headers"),
    [("10.0.0.9", {}), ("127.0.0.1", {"X-Forwarded-For": "10.0.0.9"}), ("127.0.0.1", {"Host": "me.example"})],
)
def test_metrics_are_for_this_machine_unless_allowed(chats: Chats, peer: str, headers: dict[str, str]) -> None:
    for remote, status in ((False, 403), (True, 200)):
        settings = Settings(home=chats.home, public_url="https://me.example", metrics_remote=remote)
        with TestClient(create_app(settings, chats.services), base_url="http://localhost", client=(peer, 1)) as client:
            assert client.get("/metrics", headers=headers).status_code == status


def test_an_access_line_has_the_stages_and_nothing_of_the_data(chats: Chats, capfd: pytest.CaptureFixture[str]) -> None:
    with chats.serving() as api:
        api.get("/v1/search?q=overdraft", Request_Id="r-1")
        api.get(M1, token=None)
    found, refused = lines_of(capfd)

    assert (found["level"], found["event"], found["request_id"]) == ("info", "request", "r-1")
    assert (found["operation"], found["status"], found["code"]) == ("search", 200, "ok")
    assert {"permit_ms", "read_ms", "log_ms", "total_ms"} <= set(found)
    assert "overdraft" not in str(found).lower()
    assert (refused["status"], refused["code"]) == (401, "authentication_error")


def test_a_slow_read_is_a_warning_that_names_its_operation(chats: Chats, capfd: pytest.CaptureFixture[str]) -> None:
    with chats.serving(slow_ms=0) as api:
        api.get(M1)
    (line,) = lines_of(capfd)

    assert (line["level"], line["event"]) == ("warning", "slow fetch")


def test_a_bug_is_logged_by_kind_and_place(api: Api, capfd: pytest.CaptureFixture[str]) -> None:
    api.chats.services.shelf = None  # type: ignore[assignment]
    assert api.get(M1).status_code == 500
    bug, _ = lines_of(capfd)

    assert (bug["event"], bug["kind"]) == ("bug", "AttributeError")
    assert "services.py" in str(bug["places"])
