"""What a grant is for, in the owner's words."""

import pytest

from pdpp_server.evidence.grants import purpose_words


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("https://pdpp.dev/purpose/ai_training", "to train models"),
        ("https://pdpp.dev/purpose/agent_context", "what an agent needs to know while it works for you"),
        ("https://pdpp.dev/purpose/personal_ai_assistant", "personal ai assistant"),
        ("https://else.example/purpose/research", "research"),
        ("https://else.example/ai_training/", "ai training"),
    ],
)
def test_a_registered_purpose_has_words_and_a_made_up_one_none_of_ours(code: str, words: str) -> None:
    assert purpose_words(code) == words
