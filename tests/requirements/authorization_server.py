"""What the authorization server promises: from a selection request to a token bound to a grant."""

from tests.requirements import later
from tests.requirements.promise import Promise

PROMISES: dict[str, Promise] = {
    "as.metadata.document": Promise(
        source="authorization contract: metadata",
        says="The metadata names every endpoint that is served, and leaves out what is not.",
        deferred=later.OAUTH,
    ),
    "as.clients.registration": Promise(
        source="authorization contract: clients",
        says="Registration takes the listed members only, and refuses secrets and unknown ones.",
        deferred=later.OAUTH,
    ),
    "as.clients.no-filled-uris": Promise(
        source="authorization contract: clients",
        says="A client's own addresses are kept as it gave them, and stay absent if it gave none.",
        scenario=("S125",),
        ruling=(39,),
        deferred=later.OAUTH,
        diverges="Addresses that a client left out are not filled in from the server's own, since that "
        "would mislead the owner.",
    ),
    "as.clients.redirect-match": Promise(
        source="authorization contract: clients",
        says="A redirect address must match exactly, or be loopback and differ in its port only.",
        deferred=later.OAUTH,
    ),
    "as.clients.metadata-document": Promise(
        source="authorization contract: clients",
        says="A client named by an https address is read from there within bounds and never from a private network.",
        deferred=later.OAUTH,
    ),
    "as.selection.checked": Promise(
        source="authorization contract: selection request",
        says="A selection is checked against one declaration and refused with `invalid_authorization_details`.",
        deferred=later.OAUTH,
    ),
    "as.selection.connection-chosen": Promise(
        source="authorization contract: selection request",
        says="Where several connections are eligible the owner chooses, and none is added in silence.",
        deferred=later.CONSENT,
    ),
    "as.par.resumed": Promise(
        source="authorization contract: selection request",
        says="A pushed request is resumed by `client_id` and `request_uri` at the authorization endpoint.",
        ruling=(16,),
        deferred=later.OAUTH,
    ),
    "as.authorize.pkce": Promise(
        source="authorization contract: authorization code",
        says="Only code with S256 is accepted, and errors go to the validated redirect address.",
        deferred=later.OAUTH,
    ),
    "as.codes.single-use": Promise(
        source="authorization contract: authorization code",
        says="A code redeemed twice gives `invalid_grant` and no second token.",
        deferred=later.OAUTH,
    ),
    "as.consent.review": Promise(
        source="authorization contract: consent",
        says="An approval binds exactly what was reviewed, and a stale review or a second decision is refused.",
        deferred=later.CONSENT,
    ),
    "as.consent.voices": Promise(
        source="authorization contract: consent",
        says="The page keeps apart who asks, what is enforced, what is policy, and what the client claims.",
        deferred=later.CONSENT,
    ),
    "as.consent.owner-signed-in": Promise(
        source="authorization contract: consent",
        says="No consent is given without the owner's login.",
        deferred=later.CONSENT,
    ),
    "as.consent.approve-again": Promise(
        source="authorization contract: consent",
        says="Approving the same selection again takes one click.",
        ruling=(14,),
        deferred=later.CONSENT,
    ),
    "as.tokens.lifetime": Promise(
        source="authorization contract: token endpoint",
        says="Every access token of a flow lives one hour.",
        ruling=(14,),
        deferred=later.OAUTH,
    ),
    "as.tokens.rotation": Promise(
        source="authorization contract: token endpoint",
        says="A refresh token used twice revokes its family and asks for fresh authorization.",
        ruling=(14,),
        deferred=later.OAUTH,
    ),
    "as.tokens.audience": Promise(
        source="authorization contract: token endpoint",
        says="A token is bound to the resource that was asked for.",
        ruling=(15,),
        deferred=later.OAUTH,
    ),
    "as.tokens.not-cached": Promise(
        source="authorization contract: token endpoint",
        says="Token answers carry no-store.",
        deferred=later.OAUTH,
    ),
    "as.device.single-use": Promise(
        source="authorization contract: device flow",
        says="An approved device code is redeemed once.",
        deferred=later.OAUTH,
    ),
    "as.introspection.one-answer": Promise(
        source="authorization contract: introspection",
        says="One authenticated introspection says all rights once, and any mismatch counts as inactive.",
        deferred=later.OAUTH,
    ),
    "as.revocation.immediate": Promise(
        source="authorization contract: revocation and expiry",
        says="The owner or the bound client revokes a grant, twice without harm, with effect at once.",
        deferred=later.OAUTH,
    ),
    "as.packages.revocation": Promise(
        source="authorization contract: packages",
        says="Revoking a package revokes each child, and revoking a child removes only its source.",
        deferred=later.PACKAGES,
    ),
    "as.connect.flow": Promise(
        source="authorization contract: connect",
        says="The connect command ends with a scoped token in a private file that the adapter uses.",
        deferred=later.OAUTH,
    ),
    "as.setup.one-path": Promise(
        source="design: commands",
        says="Setup pages and documents show one recommended path first, without profiles, event tools or owner "
        "tokens.",
        scenario=("S096",),
        deferred=later.PAGES,
    ),
    "as.setup.page": Promise(
        source="design: commands",
        says="The setup page shows the resolved /mcp address first, then the lines for each client.",
        scenario=("S123",),
        deferred=later.PAGES,
    ),
    "as.setup.no-owner-bearer": Promise(
        source="design: owner credentials never reach MCP",
        says="The setup page never asks for owner tokens, token variables or profiles.",
        scenario=("S124",),
        deferred=later.PAGES,
    ),
}
