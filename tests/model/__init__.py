"""A whole home beside a plain dictionary: whatever is done to both, they show the same."""
