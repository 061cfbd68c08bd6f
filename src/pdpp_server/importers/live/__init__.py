"""Sources that keep themselves fresh: what each asks of a server or a folder, and when it is asked again."""
