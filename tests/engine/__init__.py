"""Which engine keeps the homes of the tests: files of their own, or, by `pytest --engine postgres`, one database."""
