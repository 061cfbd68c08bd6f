"""A search library beside ours in the bench: tantivy, over the same texts, its own ranking, nothing hidden."""

from collections.abc import Sequence
from pathlib import Path

import tantivy

from bench.world import records

HITS = 25


class Tantivy:
    """An index of the same records, made where there is none yet."""

    def __init__(self, folder: Path, count: int) -> None:
        schema = tantivy.SchemaBuilder()
        for field in ("subject", "text"):
            schema.add_text_field(field, stored=False)
        is_new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        self._index = tantivy.Index(schema.build(), path=str(folder))
        if is_new:
            self._fill(count)
        self._index.reload()
        self._searcher = self._index.searcher()

    def _fill(self, count: int) -> None:
        writer = self._index.writer(num_threads=1)
        for record in records(count):
            writer.add_document(tantivy.Document(subject=record["subject"], text=record["text"]))
        writer.commit()
        writer.wait_merging_threads()

    def search(self, words: Sequence[str]) -> None:
        """Any of the words; a single text of several is a phrase."""
        asked = " ".join(f'"{word}"' if " " in word else word for word in words)
        self._searcher.search(self._index.parse_query(asked, ["subject", "text"]), HITS)
