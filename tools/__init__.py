"""Small scripts behind the verbs of the Makefile."""
