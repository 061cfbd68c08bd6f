"""A fictional life of three years, written as the exports that its services would give."""
