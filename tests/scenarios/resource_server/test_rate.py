"""How fast a token may ask."""

from datetime import timedelta

from pdpp_server.http import limiter
from tests.requirements import requirement
from tests.scenarios.resource_server.chats import Api, Chats

M1 = "/v1/streams/messages/records/m1"


def statuses(api: Api, times: int, token: str | None = "tok_client", path: str = M1) -> list[int]:
    return [api.get(path, token=token).status_code for _ in range(times)]


@requirement("rs.limits.rate")
def test_a_token_over_its_rate_waits_and_others_do_not(chats: Chats) -> None:
    chats.grant("grt_2", "tok_2")
    with chats.serving(rate_per_second=2, rate_burst=3) as api:
        assert statuses(api, 3) == [200, 200, 200]
        refused = api.get(M1)
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limit_exceeded")
        assert refused.json()["error"]["type"] == "rate_limit_error"
        assert refused.headers["retry-after"] == "1"
        assert statuses(api, 3, "tok_2") == [200, 200, 200]


@requirement("rs.limits.rate")
def test_the_time_that_was_said_is_enough(chats: Chats) -> None:
    with chats.serving(rate_per_second=1, rate_burst=2) as api:
        assert statuses(api, 3) == [200, 200, 429]
        chats.now += timedelta(seconds=int(api.get(M1).headers["retry-after"]))
        assert statuses(api, 2) == [200, 429]
        chats.now += timedelta(hours=1)
        assert statuses(api, 3) == [200, 200, 429]
        chats.now -= timedelta(hours=1)
        assert statuses(api, 1) == [429]


@requirement("rs.limits.rate")
def test_whoever_guesses_tokens_shares_one_bucket_and_slows_nobody(chats: Chats) -> None:
    with chats.serving(rate_per_second=1, rate_burst=2) as api:
        guesses = [api.get(M1, token=token).status_code for token in ("a", "b", None, "c")]
        assert guesses == [401, 401, 429, 429]
        assert statuses(api, 3) == [200, 200, 429]


@requirement("rs.limits.rate")
def test_another_way_to_write_the_header_is_the_same_token(chats: Chats) -> None:
    with chats.serving(rate_per_second=1, rate_burst=1) as api:
        written = ("Bearer tok_client", "bearer tok_client", "BEARER  tok_client ")
        answers = [api.get(M1, token=None, Authorization=header).status_code for header in written]

    assert answers == [200, 429, 429]


@requirement("rs.limits.rate")
def test_zero_means_any_number(chats: Chats) -> None:
    with chats.serving(rate_per_second=0, rate_burst=1) as api:
        assert set(statuses(api, 5)) == {200}
        assert set(statuses(api, 5, "nobody")) == {401}


@requirement("rs.limits.rate")
def test_what_tells_of_no_data_has_no_rate(chats: Chats) -> None:
    with chats.serving(rate_per_second=1, rate_burst=1) as api:
        for path in ("/", "/healthz", "/.well-known/oauth-protected-resource", "/openapi.json"):
            assert set(statuses(api, 3, None, path)) == {200}


@requirement("rs.limits.rate")
def test_only_so_many_buckets_are_kept(chats: Chats, monkeypatch) -> None:
    monkeypatch.setattr(limiter, "KEYS_MAX", 1)
    chats.grant("grt_2", "tok_2")
    with chats.serving(rate_per_second=1, rate_burst=1) as api:
        assert statuses(api, 2) == [200, 429]
        assert statuses(api, 1, "tok_2") == [200]
        assert statuses(api, 1) == [200]
