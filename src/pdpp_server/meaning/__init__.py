"""Meaning: a text as a vector, by a small model that lies in the home. It knows texts and numbers, and no record."""
