"""Worlds: homes with records, grants and readers, for tests that ask a whole server."""
