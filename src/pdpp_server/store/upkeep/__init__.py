"""Upkeep: checked, counted again, made anew, pruned, erased, taken out."""
