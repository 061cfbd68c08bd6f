"""The `pdpp` command. Each verb is a file; each verb talks through the port."""
