"""A sentence model in plain numpy: texts in, vectors of length one out."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdpp_server.meaning.nearest import AskedVector
from pdpp_server.meaning.tensors import DIGEST, DamagedTensors, Tensor, Vectors
from pdpp_server.meaning.wordpieces import WordPieces

PIECES_MAX = 256  # of one passage: the model learnt from no longer ones
BATCH_PIECES = 1300  # that go through the layers together: about thirty short texts
VOCABULARY, HEADS, FORMAT, FORMAT_NAME = "vocabulary", "heads", "format", "pdpp-meaning-1"
SCALE = ".scale"
MADE = 1  # how texts are cut, read and packed: whoever changes that counts on here, and every index is made anew
_ASKED_KEPT = 256


@dataclass(frozen=True, slots=True)
class _Norm:
    weight: Vectors
    bias: Vectors

    def __call__(self, x: Vectors) -> Vectors:
        x -= x.mean(1, keepdims=True)
        spread = np.einsum("ij,ij->i", x, x)[:, None] / x.shape[1]
        x *= self.weight * (1 / np.sqrt(spread + 1e-12))
        x += self.bias
        return x


@dataclass(frozen=True, slots=True)
class _Dense:
    weight: Vectors
    bias: Vectors

    def __call__(self, x: Vectors) -> Vectors:
        y = x @ self.weight
        y += self.bias
        return y


@dataclass(frozen=True, slots=True)
class _Layer:
    heads: int
    asked: _Dense  # queries, keys and values in one
    attended: _Dense
    after_attention: _Norm
    wider: _Dense
    narrower: _Dense
    after_all: _Norm

    def __call__(self, x: Vectors, ends: Sequence[int]) -> Vectors:
        y = self.attended(self._attention(self.asked(x), ends))
        y += x
        x = self.after_attention(y)
        y = self.narrower(_gelu(self.wider(x)))
        y += x
        return self.after_all(y)

    def _attention(self, asked: Vectors, ends: Sequence[int]) -> Vectors:
        """Each text attends to itself alone: they lie one after the other, without any filling between them."""
        size = asked.shape[1] // 3
        attended = np.empty((len(asked), size), np.float32)
        start = 0
        for end in ends:
            length = end - start
            parts = asked[start:end].reshape(length, 3, self.heads, -1)
            queries, keys, values = parts.transpose(1, 2, 0, 3)
            weights = queries @ keys.transpose(0, 2, 1)
            weights -= weights.max(-1, keepdims=True)
            np.exp(weights, out=weights)
            weights /= weights.sum(-1, keepdims=True)
            heads = weights @ values
            attended[start:end] = heads.transpose(1, 0, 2).reshape(length, size)
            start = end
        return attended


def _gelu(x: Vectors) -> Vectors:
    inner = x * x
    inner *= 0.044715 * 0.7978845608
    inner += 0.7978845608
    inner *= x
    np.tanh(inner, out=inner)
    inner += 1
    inner *= x
    inner *= 0.5
    return inner


class SentenceModel:
    """A model that was read. `identity` names its numbers and how vectors are made by them: what differs in either
    cannot be compared."""

    def __init__(self, tensors: dict[str, Tensor], said: dict[str, str]) -> None:
        """Raises DamagedTensors: a part of the model is missing, or has another form."""
        if said.get(FORMAT) != FORMAT_NAME:
            raise DamagedTensors("it is of another form")
        try:
            self.identity = f"{said[DIGEST]}.{MADE}"
            self._pieces = WordPieces(tensors[VOCABULARY].tobytes().decode().split("\n"))
            self._embedded = _Embedding(tensors)
            numbers = range(sum(name.endswith("attention.self.query.bias") for name in tensors))
            self._layers = [_layer(_Part(tensors, f"encoder.layer.{n}."), int(said[HEADS])) for n in numbers]
        except (KeyError, ValueError) as error:
            raise DamagedTensors(f"a part is missing or broken ({error})") from error
        self.dimensions: int = self._embedded.words.shape[1]
        self.asked = lru_cache(_ASKED_KEPT)(self._asked)  # the next page asks the same

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One vector for each text. Texts of about one length go together."""
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        cut = [self._pieces.numbers(text)[: PIECES_MAX - 2] for text in texts]
        made = np.empty((len(texts), self.dimensions), np.float32)
        batch: list[int] = []
        pieces = 0
        for place in sorted(range(len(texts)), key=lambda i: len(cut[i])):
            batch.append(place)
            pieces += len(cut[place]) + 2
            if pieces >= BATCH_PIECES:
                made[batch] = self._through([cut[i] for i in batch])
                batch, pieces = [], 0
        if batch:
            made[batch] = self._through([cut[i] for i in batch])
        return made

    def _asked(self, text: str) -> AskedVector:
        return AskedVector(self.identity, self.encode([text])[0])

    def _through(self, cut: Sequence[list[int]]) -> Vectors:
        numbers: list[int] = []
        places: list[int] = []
        ends: list[int] = []
        for text in cut:
            numbers += [self._pieces.first, *text, self._pieces.last]
            places += range(len(text) + 2)
            ends.append(len(numbers))
        x = self._embedded(numbers, places)
        for layer in self._layers:
            x = layer(x, ends)
        summed = np.add.reduceat(x, [0, *ends[:-1]])
        lengths = np.linalg.norm(summed, axis=1, keepdims=True)
        return summed / np.maximum(lengths, 1e-12)


class _Part:
    """The tensors of one layer, by the names that BERT gives them."""

    def __init__(self, tensors: dict[str, Tensor], prefix: str) -> None:
        self._tensors, self._prefix = tensors, prefix

    def dense(self, name: str) -> _Dense:
        weight = unquantized(self._tensors, f"{self._prefix}{name}.weight")
        return _Dense(np.ascontiguousarray(weight.T), self._tensors[f"{self._prefix}{name}.bias"])

    def norm(self, name: str) -> _Norm:
        named = f"{self._prefix}{name}.LayerNorm"
        return _Norm(self._tensors[f"{named}.weight"], self._tensors[f"{named}.bias"])


def _layer(part: _Part, heads: int) -> _Layer:
    query, key, value = (part.dense(f"attention.self.{name}") for name in ("query", "key", "value"))
    share = np.float32(1 / np.sqrt(query.weight.shape[1] // heads))
    asked = _Dense(
        np.concatenate([query.weight * share, key.weight, value.weight], axis=1),
        np.concatenate([query.bias * share, key.bias, value.bias]),
    )
    return _Layer(
        heads,
        asked,
        part.dense("attention.output.dense"),
        part.norm("attention.output"),
        part.dense("intermediate.dense"),
        part.dense("output.dense"),
        part.norm("output"),
    )


class _Embedding:
    """Rows of the table are made whole when a text needs them: most words of a language stand in few texts."""

    def __init__(self, tensors: dict[str, Tensor]) -> None:
        self.words: NDArray[np.int8] = tensors["embeddings.word_embeddings.weight"]
        self._scales: Vectors = tensors["embeddings.word_embeddings.weight" + SCALE]
        places = unquantized(tensors, "embeddings.position_embeddings.weight")
        kinds = unquantized(tensors, "embeddings.token_type_embeddings.weight")
        self._places: Vectors = places + kinds[0]
        self._norm = _Part(tensors, "").norm("embeddings")

    def __call__(self, numbers: Sequence[int], places: Sequence[int]) -> Vectors:
        rows: Any = self.words[numbers] * self._scales[numbers]
        return self._norm(rows + self._places[places])


def unquantized(tensors: dict[str, Tensor], name: str) -> Vectors:
    """A table of small whole numbers with a scale for each row, as it was."""
    return tensors[name].astype(np.float32) * tensors[name + SCALE]


def quantized(table: Tensor) -> tuple[NDArray[np.int8], Vectors]:
    """A quarter of the size: each row as whole numbers up to 127, and the scale of it."""
    scale: Any = np.maximum(np.abs(table).max(1, keepdims=True) / 127, 1e-12).astype(np.float32)
    whole: Any = np.rint(table / scale)
    return whole.astype(np.int8), scale
