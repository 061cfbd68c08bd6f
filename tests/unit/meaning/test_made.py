"""How texts become what is kept has a number; what it does can change only together with that."""

import hashlib

import numpy as np

from pdpp_server.meaning.blocks import field_number
from pdpp_server.meaning.encoder import MADE
from pdpp_server.meaning.nearest import kept
from pdpp_server.meaning.passages import passages
from pdpp_server.meaning.wordpieces import words
from tests.requirements import requirement

TEXT = "Ünïcode, naïve e-mail: don't! 日本語 👍🏽 x² “quoted” … " + "A sentence that goes on. " * 60
AS_MADE = (1, "52b087d95c8da726")  # the number, and the digest of what is made by it


@requirement("store.meaning.other-model")
def test_whoever_changes_how_vectors_are_made_counts_on() -> None:
    vectors = ((np.arange(2 * 384) * 37 % 101 - 50) / 64).astype(np.float32).reshape(2, 384)
    places = [(field_number("text"), 0, 480), (field_number("subject"), 7, 9)]
    made = ([*passages(TEXT)], words(TEXT), kept(700, places, vectors, 384))

    digest = hashlib.blake2b(repr(made).encode(), digest_size=8).hexdigest()

    assert (MADE, digest) == AS_MADE
