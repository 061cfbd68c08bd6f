"""A refusal in words."""

from pdpp_server.errors import CANDIDATES_MAX, AmbiguousConnection, Candidate, InvalidRequest
from pdpp_server.evidence.budgets import REFUSAL_BYTES, REFUSAL_MESSAGE_BYTES
from pdpp_server.evidence.refusals import message_text, refusal_text
from pdpp_server.evidence.text import byte_len


def candidates(count: int, label: str | None = None) -> tuple[Candidate, ...]:
    return tuple(Candidate(f"cin_{n}", "mail", f"grt_{n}", label) for n in range(count))


def test_a_refusal_is_its_code_what_is_wrong_and_what_to_do() -> None:
    assert refusal_text(InvalidRequest("No.", remedy="Ask again.")) == "invalid_request: No. Ask again."


def test_what_a_caller_sent_is_bounded_and_made_visible() -> None:
    said = message_text(InvalidRequest("\u202e" + "x" * 5000))
    assert said.startswith("\\u202e")
    assert said.endswith("…")
    assert byte_len(said) <= REFUSAL_MESSAGE_BYTES


def test_each_source_that_could_be_meant_is_a_line_and_the_first_is_the_next_call() -> None:
    text = refusal_text(AmbiguousConnection("Which?", candidates=candidates(2, "Work\nmail")))
    assert text.splitlines()[1:] == [
        'cin_0 mail "Work mail" grant grt_0',
        'cin_1 mail "Work mail" grant grt_1',
        'next: the same call with {"connection_id":"cin_0"}',
    ]


def test_of_very_many_some_are_listed_and_all_are_counted() -> None:
    text = refusal_text(AmbiguousConnection("Which?", candidates=candidates(100, "x" * 80)))
    assert byte_len(text) <= REFUSAL_BYTES
    shown = sum(line.startswith("cin_") for line in text.splitlines())
    assert 0 < shown <= CANDIDATES_MAX
    assert f"100 in all, {100 - shown} not listed; schema {{}} lists every connection" in text
