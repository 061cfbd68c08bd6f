"""The /v1 API over HTTP. Every handler is the same three lines: parse, serve, encode."""
