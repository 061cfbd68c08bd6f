"""OAuth for one owner: from a selection request to a token bound to a grant."""
