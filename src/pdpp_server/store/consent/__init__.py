"""Consent: who asked, what the owner agreed to, and the tokens that came of it."""
