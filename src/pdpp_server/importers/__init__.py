"""From a file you own to records. Sources are one file each in `sources/`; what several read is in `formats/`."""
