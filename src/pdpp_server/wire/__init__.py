"""JSON <-> values. The only package that knows the protocol's key names."""
