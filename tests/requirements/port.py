"""What the port promises: another server is read as this one is, and nothing of ours reaches anybody else."""

from tests.requirements.promise import Promise

PROMISES: dict[str, Promise] = {
    "port.network.same-answers": Promise(
        source="design: one port, two transports",
        says="Every read of our own server gives the same values over the network as in this process.",
    ),
    "port.network.same-refusals": Promise(
        source="design: one port, two transports",
        says="A refusal arrives as the class that was raised: with its code, message, param, remedy and candidates.",
    ),
    "port.network.cursor-after": Promise(
        source="design: two channels, each enough alone",
        says="A page of another server can be left after any of its records, and never with a gap.",
    ),
    # the token
    "port.network.kind-asked": Promise(
        source="design: owner credentials never reach MCP",
        says="Before the first read the server is asked what the token is, and anything but a client's reads nothing.",
    ),
    "port.network.token-stays": Promise(
        source="design: owner credentials never reach MCP",
        says="The token goes to that server alone: no redirect is followed, no proxy used, no name printed with it.",
    ),
    "port.network.saved-for": Promise(
        source="authorization contract: credential cache",
        says="A saved token is sent only to the server that it was saved for.",
    ),
    "port.network.address": Promise(
        source="MCP adapter contract: server",
        says="An address has TLS unless it is on this machine, no password, query or fragment, and keeps its path.",
    ),
    "port.network.commands": Promise(
        source="design: commands",
        says="`pdpp mcp` and the reading verbs read from the server that --provider-url or PDPP_PROVIDER_URL names.",
    ),
    "port.network.exit-codes": Promise(
        source="MCP adapter contract: server",
        says="An owner's token ends them with 77, no token for that server with 78, and no address with 64.",
    ),
    "port.network.package-tokens": Promise(
        source="ruling 12: fan-in of a package",
        says="A token that is good at a server's `/mcp` alone reads there: its own tools are asked and passed on.",
        ruling=(12,),
    ),
    # what a server does not say
    "port.unknown.has-more": Promise(
        source="design: nothing is silently different",
        says="Only a page that says so is the last; one that has more without a cursor says that, and what to try.",
    ),
    "port.unknown.groups": Promise(
        source="design: nothing is silently different",
        says="Groups that add up to less than the count are never all, and the latest or largest only if that is said.",
    ),
    "port.unknown.schema": Promise(
        source="design: nothing is silently different",
        says="A schema shows no number, type, view, search or extension that the server did not say.",
    ),
    "port.unknown.places": Promise(
        source="design: evidence is proven",
        says="A match without offsets is shown as one whose place is not proven, and the next step looks for its word.",
        ruling=(36,),
    ),
    # what a server can do wrong
    "port.network.foreign-shapes": Promise(
        source="resource server contract: reads",
        says="Older names, absent members and full documents of other servers are understood as far as they go.",
    ),
    "port.network.foreign-refusals": Promise(
        source="resource server contract: errors",
        says="What another server refuses is refused here in its words, and a code that we do not know by its status.",
    ),
    "port.network.no-windows": Promise(
        source="resource server contract: field windows",
        says="From a server without field windows the record is fetched and cut here, in bounds; the answer says so.",
    ),
    "port.network.no-aggregate": Promise(
        source="resource server contract: aggregation",
        says="A server that does not aggregate is counted by its list; for all else the refusal says what to do.",
    ),
    "port.network.no-filter": Promise(
        source="resource server contract: clients",
        says="Where a server refuses a filter without a remedy, the refusal says how to go on without one.",
    ),
    "port.network.no-around": Promise(
        source="decisions: around",
        says="Where a server does not know around, that is refused, whether it said so or gave a page like any other.",
        ruling=(44,),
    ),
    "port.network.long-cursors": Promise(
        source="design: two channels, each enough alone",
        says="A cursor too long for a text has a short name here, which leads on; what cannot be kept is refused.",
    ),
    "port.network.unreachable-ids": Promise(
        source="design: one handle",
        says="What another server names in a way that no handle can is left out, and the answer says how many.",
    ),
    "port.network.hostile-names": Promise(
        source="design: untrusted content stays content",
        says="Labels and names of another server forge no line, and however long they are the budgets hold.",
    ),
    "port.network.trouble-named": Promise(
        source="design: messages are for the reader in trouble",
        says="A server that is away, slow, endless, not JSON or of another shape is named in `source_unavailable`.",
    ),
    "port.network.bounded": Promise(
        source="design: bounded reads",
        says="One question takes bounded time and memory, whatever the server sends.",
    ),
    "port.network.tries": Promise(
        source="design: bounded reads",
        says="A question that was not heard, or met a busy server, is asked at most twice more, and never too late.",
    ),
}
