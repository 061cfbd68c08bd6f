"""Which messages of one account belong together."""

import pytest

from pdpp_server.importers.formats import mail_threads
from pdpp_server.importers.formats.mail_threads import MailThreads, bare_subject
from tests.requirements import requirement


@requirement("imp.mail.threads")
@pytest.mark.parametrize(
    ("subject", "bare"),
    [
        ("Dinner", "Dinner"),
        ("Re: AW:  fwd: Dinner", "Dinner"),
        ("RE[2]: Dinner", "Dinner"),
        ("回复\uff1aDinner", "Dinner"),
        ("Reason: none", "Reason: none"),
        ("Re:", ""),
        ("", ""),
    ],
)
def test_a_subject_is_the_same_in_every_reply(subject: str, bare: str) -> None:
    assert bare_subject(subject) == bare


@requirement("imp.mail.threads")
def test_a_chain_that_is_told_link_by_link_is_one_thread() -> None:
    threads = MailThreads()
    first = threads.of("1", [], None, "Dinner")
    assert threads.of("2", [], "1", "Re: Dinner") == first
    assert threads.of("3", [], "2", "Re: Dinner") == first
    assert threads.of("4", ["1", "3"], "3", "Lunch") == first  # the first of its references


@requirement("imp.mail.threads")
def test_only_a_reply_that_names_no_message_goes_by_its_subject() -> None:
    threads = MailThreads()
    first = threads.of("1", [], None, "Dinner")
    assert threads.of("2", [], None, "Re: Dinner") == first
    assert threads.of("3", [], None, "Dinner") != first  # the same words, and no reply
    assert threads.of("4", [], "9", "Re: Dinner") != first
    assert threads.of("5", [], None, "Re: Breakfast") != first


@requirement("imp.mail.threads")
def test_a_reply_to_what_was_read_another_time_is_in_its_thread() -> None:
    threads = MailThreads()
    threads.knew("1", "t-00000000000000ff")
    threads.knew("2", "no thread of ours")
    assert threads.of("3", [], "1", "Re: Dinner") == "t-00000000000000ff"
    assert threads.of("4", [], "2", "Re: Lunch") == MailThreads().of("4", [], "2", "Re: Lunch")


@requirement("imp.mail.threads")
def test_a_thread_tells_its_span_and_each_who_took_part_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail_threads, "PARTICIPANTS_MAX", 3)
    threads = MailThreads()
    threads.add("t", "Re: Dinner", 2_000_000, ["a@x", "b@x", "a@x"])
    threads.add("t", "Re: other", 1_000_000, ["b@x", "c@x", "d@x"])
    threads.add("t", "Re: other", None, [])
    threads.add("u", "Lunch", None, [])
    assert list(threads.records()) == [
        {
            "id": "t",
            "subject": "Dinner",
            "message_count": 3,
            "first_at": "1970-01-01T00:00:01.000Z",
            "last_at": "1970-01-01T00:00:02.000Z",
            "participants": "a@x, b@x, c@x",
        },
        {"id": "u", "subject": "Lunch", "message_count": 1},
    ]
