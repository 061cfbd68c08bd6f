"""What is kept of a secret."""

from hashlib import sha256

from pdpp_server.store.digests import token_digest


def test_a_token_is_kept_as_its_digest_whatever_was_sent() -> None:
    assert token_digest("abc") == sha256(b"abc").digest()
    assert len({token_digest(token) for token in ("", "abc", "abc ", "\ud800")}) == 4
