"""Consent, pure: issue it, follow its life, decide one query."""
