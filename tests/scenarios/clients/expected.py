"""Which checks of the conformance suite do not succeed, and why; all others of these scenarios do."""

HANDSHAKE, MODERN = "2025-11-25", "2026-07-28"

NO_PROMPTS = "We have no prompts and declare none; the suite asks for their list nevertheless."
NO_TEST_TOOL = "The check needs a tool that only a server made for the suite has."
NO_SUBSCRIPTIONS = "We announce no changes, declare none, and the suite leaves the check out."
NOTHING_LISTED = "Resources are opened by address and never listed, so the suite finds none to read."

# All checks that the suite has for authorization servers; each succeeds.
AUTHORIZATION = ("authorization-server-metadata", "authorization-server-metadata-cimd", "authorization-code-grant")

NOBODY_THERE = "Without a terminal it sends nobody to a browser, and ends before it asks for any document."
ONLY_STORED = "It is told to use what it kept from another time, and kept nothing."

# What the Inspector says instead of an answer, where it would need its owner: its code, its exit code, and why.
INSPECTOR: dict[tuple[str, ...], tuple[str, int, str]] = {
    (): ("auth_required", 3, NOBODY_THERE),
    ("--stored-auth-only",): ("auth_required", 3, ONLY_STORED),
}

EXPECTED: dict[tuple[str, str], dict[str, tuple[str, str]]] = {
    (HANDSHAKE, "server-initialize"): {},
    (HANDSHAKE, "ping"): {},
    (HANDSHAKE, "tools-list"): {},
    (HANDSHAKE, "resources-list"): {},
    (HANDSHAKE, "dns-rebinding-protection"): {},
    (MODERN, "tools-list"): {},
    (MODERN, "resources-list"): {},
    (MODERN, "sep-2164-resource-not-found"): {},
    (MODERN, "dns-rebinding-protection"): {},
    (MODERN, "http-header-validation"): {},
    (MODERN, "input-required-result-unsupported-methods"): {},
    (MODERN, "caching"): {
        "sep-2549-prompts-list-caching-hints": ("FAILURE", NO_PROMPTS),
        "sep-2549-resources-read-caching-hints": ("SKIPPED", NOTHING_LISTED),
    },
    (MODERN, "server-stateless"): {
        "sep-2575-server-rejects-undeclared-capability": ("FAILURE", NO_TEST_TOOL),
        "sep-2575-missing-capability-http-400": ("FAILURE", NO_TEST_TOOL),
        "sep-2575-http-server-no-independent-requests-on-stream": ("FAILURE", NO_TEST_TOOL),
        "sep-2575-server-no-log-without-loglevel": ("FAILURE", NO_TEST_TOOL),
        "sep-2575-server-sends-subscription-ack": ("SKIPPED", NO_SUBSCRIPTIONS),
        "sep-2575-server-tags-subscription-id": ("SKIPPED", NO_SUBSCRIPTIONS),
        "sep-2575-server-honors-notification-filter": ("SKIPPED", NO_SUBSCRIPTIONS),
        "sep-2575-server-sends-prompts-list-changed-on-subscription": ("SKIPPED", NO_SUBSCRIPTIONS),
        "sep-2575-server-sends-tools-list-changed-on-subscription": ("SKIPPED", NO_SUBSCRIPTIONS),
    },
}
