"""What grants promise: what the owner agreed to is all that a client can learn."""

from tests.requirements.promise import Promise

CHANGE = "issue 17: grants as things one can change"

PROMISES: dict[str, Promise] = {
    "grants.change.successor": Promise(
        source=CHANGE,
        says="What the owner changes of a grant is a successor: in one transaction all that the client holds leads to "
        "it, a read is under the one or the other, and cursors from before are invalid_cursor.",
    ),
    "grants.change.never-wider": Promise(
        source=CHANGE,
        says="A successor gives nothing that the grant did not give, whatever is asked of it.",
    ),
    "grants.change.end": Promise(
        source=CHANGE,
        says="An end can be moved, and tokens that are not renewed live as long; what has ended is not changed, and a "
        "single use not prolonged.",
    ),
    "grants.snapshot.words-of-now": Promise(
        source="design: evidence is proven",
        says="Roles and display of a newer declaration apply to older grants, for granted fields of the same name and "
        "type; what may be read, filtered and opened stays as it was consented to.",
        ruling=(54,),
    ),
    "grants.permit.streams": Promise(
        source="resource server contract: grant enforcement order",
        says="Only the streams named in the grant can be read.",
    ),
    "grants.permit.connections": Promise(
        source="resource server contract: grant enforcement order",
        says="Only records of the connections that the grant names for a stream can be read.",
    ),
    "grants.permit.fields": Promise(
        source="resource server contract: grant enforcement order",
        says="No answer holds a value of a field outside the grant.",
    ),
    "grants.permit.time": Promise(
        source="resource server contract: grant enforcement order",
        says="Only records from since on and before until are visible, and one without a readable time is hidden.",
    ),
    "grants.permit.resources": Promise(
        source="resource server contract: grant enforcement order",
        says="If the grant names record keys, only exactly these records are visible, compound keys included.",
    ),
    "grants.permit.request-narrows": Promise(
        source="resource server contract: grant enforcement order",
        says="What a request names can only narrow what the grant gives.",
    ),
    "grants.permit.monotone": Promise(
        source="design: a grant is asked in one place",
        says="A narrower grant never permits what a wider one refuses.",
    ),
    "grants.permit.only-key": Promise(
        source="design: a grant is asked in one place",
        says="Only permit makes the value that opens a read of the store.",
    ),
    "grants.permit.frozen": Promise(
        source="resource server contract: grant enforcement order",
        says="A later declaration with new or newly required fields adds nothing to an old grant.",
    ),
    "grants.permit.handles-grant-nothing": Promise(
        source="MCP adapter contract: resources and handles",
        says="A handle of data outside the grant gives the refusal of the grant, whoever made the handle.",
        scenario=("S130",),
    ),
    "grants.freshness.visible": Promise(
        source="design: a grant is asked in one place",
        says="Every time of freshness is that of the newest change which the reader can see, for each stream; "
        "none where nothing is visible.",
        ruling=(41,),
    ),
    "grants.freshness.day": Promise(
        source="design: a grant is asked in one place",
        says="Beside it stands the UTC day of the last run that was a complete picture of the stream; nothing else "
        "moves that day.",
        ruling=(41, 52),
    ),
    "grants.worlds.same-bytes": Promise(
        source="design: a grant is asked in one place",
        says="Two servers that differ only in what a grant hides answer every read with the same bytes, cursors apart.",
    ),
    "grants.worlds.ranking": Promise(
        source="design: a grant is asked in one place",
        says="Hidden records and fields change neither the order, nor the snippets, nor the count of a search.",
    ),
    "grants.worlds.errors": Promise(
        source="design: a grant is asked in one place",
        says="A refusal is the same whether or not the hidden data exists.",
    ),
    "grants.worlds.cursors": Promise(
        source="design: a grant is asked in one place",
        says="The cursors of two such servers have the same length and lead to the same records.",
        ruling=(18,),
    ),
    "grants.lifecycle.expired": Promise(
        source="authorization contract: revocation and expiry",
        says="A grant past its end refuses with `grant_expired`.",
    ),
    "grants.lifecycle.revoked": Promise(
        source="authorization contract: revocation and expiry",
        says="A revoked grant refuses the very next request with `grant_revoked`.",
    ),
    "grants.lifecycle.consumed": Promise(
        source="authorization contract: grant object",
        says="A single-use grant that gave its token gives no second one.",
        diverges="The token endpoint answers in the words of OAuth, `invalid_grant`; no read asks for a second token, "
        "so `grant_consumed` is only known from other servers.",
    ),
    "grants.lifecycle.final": Promise(
        source="authorization contract: grant object",
        says="A grant is never changed or revived; it is revoked and issued anew.",
    ),
    "grants.tokens.hashed": Promise(
        source="authorization contract: token endpoint",
        says="No token stands in the database in clear; it is found by its hash.",
    ),
    "grants.issue.resolution": Promise(
        source="authorization contract: selection request",
        says="Wildcards, presets and views are resolved into frozen streams and fields when the grant is issued.",
    ),
    "grants.issue.package": Promise(
        source="authorization contract: packages",
        says="A selection of several sources makes a package with one child grant for each source.",
    ),
    "grants.explain.same-decision": Promise(
        source="design: commands",
        says="The explanation of a decision in words always agrees with the decision.",
    ),
}
