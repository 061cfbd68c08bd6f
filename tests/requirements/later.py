"""Why a promise waits: one sentence for each part that is built later."""

MEANING = "Search by meaning comes after search by words."
EVENTS = "Event subscriptions are no part of this server yet."
