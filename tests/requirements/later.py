"""Why a promise waits: one sentence for each part that is built later."""

EVENTS = "Event subscriptions are no part of this server yet."
