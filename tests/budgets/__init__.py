"""Budgets: how many bytes an answer may take, whatever the data."""
