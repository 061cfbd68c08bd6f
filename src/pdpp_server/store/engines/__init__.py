"""The engines, a folder each."""
