"""The sources, one file each: what it recognises of an export, and what it reads out of it."""
