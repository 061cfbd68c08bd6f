"""The house keeping itself: promises, error table, docs, map, layers, public names."""
