"""The model: how it is read and refused, and that a text is the same vector whatever stands beside it."""

from pathlib import Path

import numpy as np
import pytest

from pdpp_server.errors import InvalidRequest
from pdpp_server.meaning.loading import MODEL_FILE, Meaning, convert
from pdpp_server.meaning.wordpieces import WordPieces
from tests.requirements import requirement
from tests.worlds.meant import VOCABULARY, put_model, wheel


def test_words_are_cut_into_the_longest_pieces_that_are_known() -> None:
    pieces = WordPieces(["[UNK]", "[CLS]", "[SEP]", "un", "##afford", "##able", "cafe", "!", "日", "本"])

    told = [pieces._numbers and number for number in pieces.numbers("Unaffordable CAFÉ! 日本 xyz")]

    assert told == [3, 4, 5, 6, 7, 8, 9, 0]


@requirement("store.meaning.model")
def test_texts_in_other_words_are_near_and_others_are_not(tmp_path: Path) -> None:
    put_model(tmp_path)
    encoder = Meaning(tmp_path).encoder()
    assert encoder is not None

    boat, ship, dog = encoder.encode(["boat", "ship", "dog"])

    assert float(boat @ ship) > 0.99 > 0.9 > float(boat @ dog)


def test_a_text_has_one_vector_alone_and_among_others(tmp_path: Path) -> None:
    put_model(tmp_path)
    encoder = Meaning(tmp_path).encoder()
    assert encoder is not None
    texts = ["a boat", "", "the doctor said that it would rain " * 30, "hound"]

    together = encoder.encode(texts)

    assert np.allclose(together, np.stack([encoder.encode([text])[0] for text in texts]), atol=1e-5)
    assert np.allclose(np.linalg.norm(together, axis=1), 1)


@requirement("store.meaning.damaged")
@pytest.mark.parametrize("harm", ["cut", "turned", "emptied", "other"])
def test_a_damaged_model_is_none(harm: str, tmp_path: Path) -> None:
    put_model(tmp_path)
    path = tmp_path / MODEL_FILE
    raw = path.read_bytes()
    assert Meaning(tmp_path).encoder() is not None

    middle = len(raw) // 2
    turned = raw[:middle] + bytes([raw[middle] ^ 1]) + raw[middle + 1 :]
    path.write_bytes({"cut": raw[:-7], "turned": turned, "emptied": b"", "other": b"not a model at all"}[harm])

    assert Meaning(tmp_path).encoder() is None


def test_a_wheel_without_a_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.whl"
    path.write_bytes(b"no archive")

    with pytest.raises(InvalidRequest):
        convert(path, "tiny")


def test_the_vocabulary_travels_with_the_model(tmp_path: Path) -> None:
    made = convert(wheel(tmp_path), "tiny")

    assert "\n".join(VOCABULARY).encode() in made
