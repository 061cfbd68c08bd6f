"""Every read, once, for every door: permit, read, log, return values."""
