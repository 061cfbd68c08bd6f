"""From a file you own to records. One source, one file; sources do not know each other."""
