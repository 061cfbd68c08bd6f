"""What `pdpp` prints with `--json`: one writer for each document, in a module for each kind of thing."""
