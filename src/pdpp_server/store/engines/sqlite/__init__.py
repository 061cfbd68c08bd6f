"""SQLite: one file of a home, one writer, many readers."""
