"""Records: how they come in, and every read of them; scores, places, excerpts and counts are made here once."""
