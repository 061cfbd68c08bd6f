"""Two worlds that differ only in what a grant hides, and the proof that nobody can tell them apart."""
