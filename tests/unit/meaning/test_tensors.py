"""Tensors in one file, checked whole when read."""

import numpy as np
import pytest

from pdpp_server.meaning.tensors import DamagedTensors, read_tensors, written_tensors

WRITTEN = written_tensors(
    {"a": np.array([[1.5, 2.5]], np.float32), "b": np.array([-1, 2, 3], np.int8), "none": np.zeros((0, 4), np.int64)},
    {"model": "tiny"},
)


def test_tensors_are_read_as_they_were_written_with_what_is_said_of_them() -> None:
    tensors, said = read_tensors(WRITTEN)
    assert {name: (one.dtype.name, one.shape, one.tolist()) for name, one in tensors.items()} == {
        "a": ("float32", (1, 2), [[1.5, 2.5]]),
        "b": ("int8", (3,), [-1, 2, 3]),
        "none": ("int64", (0, 4), []),
    }
    assert said["model"] == "tiny"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        WRITTEN[:7],
        WRITTEN[:40],
        WRITTEN[:-1],
        WRITTEN[:-1] + b"\x09",
        (1 << 60).to_bytes(8, "little") + WRITTEN[8:],
        WRITTEN.replace(b"float", b"other").replace(b'"F32"', b'"F99"'),
        (2).to_bytes(8, "little") + b"[]",
    ],
)
def test_a_file_that_is_not_what_was_written_is_refused(raw: bytes) -> None:
    with pytest.raises(DamagedTensors):
        read_tensors(raw)
