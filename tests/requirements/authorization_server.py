"""What the authorization server promises: from a selection request to a token bound to a grant."""

from tests.requirements.promise import Promise

PROMISES: dict[str, Promise] = {
    "as.metadata.document": Promise(
        source="authorization contract: metadata",
        says="The metadata names every endpoint that is served, and leaves out what is not.",
    ),
    "as.clients.registration": Promise(
        source="authorization contract: clients",
        says="Registration takes the listed members only, and refuses secrets and unknown ones.",
        diverges="`scope`, `contacts`, `software_id` and `software_version` are taken too, though no list has them: "
        "widely used clients send them.",
    ),
    "as.clients.no-filled-uris": Promise(
        source="authorization contract: clients",
        says="A client's own addresses are kept as it gave them, and stay absent if it gave none.",
        scenario=("S125",),
        ruling=(39,),
        diverges="Addresses that a client left out are not filled in from the server's own, since that "
        "would mislead the owner.",
    ),
    "as.clients.redirect-match": Promise(
        source="authorization contract: clients",
        says="A redirect address must match exactly, or be loopback and differ in its port only.",
    ),
    "as.clients.metadata-document": Promise(
        source="authorization contract: clients",
        says="A client named by an https address is read from there within bounds and never from a private network.",
    ),
    "as.clients.redirect-schemes": Promise(
        source="authorization contract: clients",
        says="A browser is sent to https, to http on loopback, and to schemes of applications that carry their domain "
        "or belong to a few known apps; to no other scheme.",
    ),
    "as.clients.document-flows": Promise(
        source="authorization contract: clients",
        says="A client named by its document that lists no grant types uses codes and refresh tokens, and never the "
        "device flow.",
    ),
    "as.selection.checked": Promise(
        source="authorization contract: selection request",
        says="A selection is checked against one declaration and refused with `invalid_authorization_details`.",
    ),
    "as.selection.connection-chosen": Promise(
        source="authorization contract: selection request",
        says="Where several connections are eligible the owner chooses, and none is added in silence.",
    ),
    "as.par.resumed": Promise(
        source="authorization contract: selection request",
        says="A pushed request is resumed by `client_id` and `request_uri` at the authorization endpoint.",
        ruling=(16,),
    ),
    "as.authorize.pkce": Promise(
        source="authorization contract: authorization code",
        says="Only code with S256 is accepted, and errors go to the validated redirect address.",
    ),
    "as.codes.single-use": Promise(
        source="authorization contract: authorization code",
        says="A code redeemed twice gives `invalid_grant` and no second token.",
    ),
    "as.consent.review": Promise(
        source="authorization contract: consent",
        says="An approval binds exactly what was reviewed, and a stale review or a second decision is refused.",
    ),
    "as.consent.voices": Promise(
        source="authorization contract: consent",
        says="The page keeps apart who asks, what is enforced, what is policy, and what the client claims.",
    ),
    "as.consent.vouched": Promise(
        source="authorization contract: consent",
        says="The page vouches for an address only where the answer goes to that address: never for a device, never "
        "for an app on this computer.",
    ),
    "as.consent.owner-signed-in": Promise(
        source="authorization contract: consent",
        says="No consent is given without the owner's login.",
    ),
    "as.consent.approve-again": Promise(
        source="authorization contract: consent",
        says="Approving the same selection again takes one click.",
        ruling=(14,),
    ),
    "as.tokens.lifetime": Promise(
        source="authorization contract: token endpoint",
        says="Every access token of a flow lives one hour.",
        ruling=(14,),
    ),
    "as.tokens.rotation": Promise(
        source="authorization contract: token endpoint",
        says="A refresh token used twice revokes its family and asks for fresh authorization.",
        ruling=(14,),
    ),
    "as.tokens.narrowed": Promise(
        source="RFC 6749 section 6, RFC 9396 section 6",
        says="A `scope` or `authorization_details` in a token request narrows or is refused, and is never ignored; a "
        "refusal spends nothing.",
    ),
    "as.tokens.audience": Promise(
        source="authorization contract: token endpoint",
        says="A token is bound to the resource that was asked for.",
        ruling=(15,),
    ),
    "as.tokens.elsewhere": Promise(
        source="authorization contract: introspection",
        says="A client can ask for a token for a resource server that has an address of its own; it is good there and "
        "nowhere else, and no other server is told of it.",
        ruling=(15,),
    ),
    "as.tokens.not-cached": Promise(
        source="authorization contract: token endpoint",
        says="Token answers carry no-store.",
    ),
    "as.device.single-use": Promise(
        source="authorization contract: device flow",
        says="An approved device code is redeemed once.",
    ),
    "as.introspection.one-answer": Promise(
        source="authorization contract: introspection",
        says="One authenticated introspection says all rights once, and any mismatch counts as inactive.",
    ),
    "as.revocation.immediate": Promise(
        source="authorization contract: revocation and expiry",
        says="The owner or the bound client revokes a grant, twice without harm, with effect at once.",
    ),
    "as.packages.revocation": Promise(
        source="authorization contract: packages",
        says="Revoking a package revokes each child, and revoking a child removes only its source.",
    ),
    "as.metadata.challenge": Promise(
        source="authorization contract: hosted /mcp authentication",
        says="A 401 names the metadata of the very endpoint, the scope to ask for and an icon, and the body says the "
        "same address.",
    ),
    "as.metadata.ended": Promise(
        source="how clients do OAuth",
        says="A refusal because the grant ended has a challenge that leads clients back to the owner.",
    ),
    "as.metadata.as-typed": Promise(
        source="how clients do OAuth",
        says="The MCP endpoint and its documents are there with and without a slash at the end, and `resource` is the "
        "address as it was typed.",
    ),
    "as.metadata.browsers": Promise(
        source="how clients do OAuth",
        says="Pages of hosts that the server is known by may read discovery, registration, token and MCP answers, and "
        "no other page may read any answer.",
    ),
    "as.clients.unknown": Promise(
        source="how clients do OAuth",
        says="An unknown client gets `invalid_client`, with 401 at the token endpoint, and is never redirected.",
    ),
    "as.clients.registration-rate": Promise(
        source="authorization contract: clients",
        says="One address registers at most 120 clients in ten minutes, then 429 `slow_down` says when to try again.",
    ),
    "as.clients.document-away": Promise(
        source="how clients do OAuth",
        says="What a client's document said before stands while its host is away, and no longer when it is gone.",
    ),
    "as.clients.no-way-out": Promise(
        source="how clients do OAuth",
        says="Where documents cannot be had, clients are asked to register: for ten minutes, or always by a setting; "
        "nothing is probed, and the person is told.",
    ),
    "as.clients.proxy": Promise(
        source="how clients do OAuth",
        says="A proxy that is set is the way out: it resolves, and only public addresses and names are asked of it.",
    ),
    "as.clients.document-changed": Promise(
        source="authorization contract: clients",
        says="When the document of a client names other redirect addresses or keys, its grants end.",
    ),
    "as.flows.bounded": Promise(
        source="authorization contract: clients",
        says="Nobody fills the owner's desk: asks are limited for each address and in all; what expired or was decided "
        "does not count.",
    ),
    "as.flows.room": Promise(
        source="decision 0027: who waits",
        says="What strangers ask and register, or pages in a browser do, takes nothing from a client that the owner "
        "let in, from the address it comes from, or from the owner's own browser.",
    ),
    "as.flows.hostile": Promise(
        source="decision 0027: who waits",
        says="Behind thousands of hostile requests, claimed addresses and half-open connections, a known client at "
        "that same address signs in and reads.",
    ),
    "as.authorize.owner-first": Promise(
        source="authorization contract: authorization code",
        says="A browser is sent to a client with an error only where the owner is signed in; others are told here.",
    ),
    "as.errors.pages": Promise(
        source="how clients do OAuth",
        says="Bad input at the authorization endpoint is a page with a remedy in a browser, and an OAuth error with a "
        "remedy for a program.",
    ),
    "as.flows.forgotten": Promise(
        source="authorization contract: authorization code",
        says="Asks, codes and tokens that ended are forgotten, and so are clients to whom nothing was given.",
    ),
    "as.tokens.json-body": Promise(
        source="authorization contract: endpoints",
        says="OAuth endpoints take forms and JSON, and refuse a parameter given twice.",
    ),
    "as.tokens.single-use-grant": Promise(
        source="authorization contract: grant object",
        says="A single-use grant is consumed with its first token and never refreshed.",
    ),
    "as.tokens.digests": Promise(
        source="authorization contract: token endpoint",
        says="Of codes, access tokens and refresh tokens only digests are stored.",
    ),
    "as.consent.only-narrower": Promise(
        source="authorization contract: consent",
        says="The owner can narrow what was asked in every direction and widen it in none.",
    ),
    "as.consent.ai-training": Promise(
        source="authorization contract: consent",
        says="A purpose of training models needs an affirmation of its own.",
    ),
    "as.consent.preview": Promise(
        source="authorization contract: consent",
        says="Before deciding the owner sees what the client would see; that is logged and leaves nothing else behind.",
    ),
    "as.packages.one-token": Promise(
        source="authorization contract: packages",
        says="Several sources make one package with a child grant each and one token that is heard at the MCP "
        "endpoint only.",
    ),
    "as.device.polling": Promise(
        source="authorization contract: device flow",
        says="A device that polls too fast, is denied, or comes too late is told which.",
    ),
    "as.device.user-codes": Promise(
        source="authorization contract: device flow",
        says="User codes are short, forgive how they are typed, and cannot be guessed by trying.",
    ),
    "as.tokens.revoked-by-client": Promise(
        source="RFC 7009",
        says="A client ends its own tokens, with a refresh token the whole family; others' tokens it cannot.",
    ),
    "as.connect.flow": Promise(
        source="authorization contract: connect",
        says="The connect command ends with a scoped token in a private file that the adapter uses.",
    ),
    "as.connect.selection": Promise(
        source="authorization contract: device flow",
        says="What a server wants to be told beforehand is given in a file; without one the command says so.",
    ),
    "as.connect.refusals-told": Promise(
        source="design: messages are for the reader in trouble",
        says="A refusal of the other side shows its error and its description, on one visible line.",
    ),
    "as.connect.believes-nobody": Promise(
        source="authorization contract: connect",
        says="A server that speaks of another address, issuer, request or kind of token leaves nothing behind.",
    ),
    "as.connect.renewed": Promise(
        source="authorization contract: connect",
        says="A saved credential is renewed by itself, by one process at a time, and saved before it is used.",
        ruling=(14,),
    ),
    "as.connect.client-files": Promise(
        source="how clients do OAuth",
        says="A client's own file gets exactly its form of entry and loses nothing else, and removing undoes it.",
    ),
    "as.connect.told": Promise(
        source="clients: ways in",
        says="What connecting asks of a person is said: what the client asks next, and which machine opens an address.",
    ),
    "as.connect.hosted": Promise(
        source="how clients do OAuth",
        says="A client that runs elsewhere is given no address that it cannot reach.",
    ),
    "as.setup.one-path": Promise(
        source="design: commands",
        says="Setup pages and documents show one recommended path first, without profiles, event tools or owner "
        "tokens.",
        scenario=("S096",),
    ),
    "as.setup.page": Promise(
        source="design: commands",
        says="The setup page shows the resolved /mcp address first, then the lines for each client.",
        scenario=("S123",),
        diverges="Below the clients stands a file for projects, and no llms.txt: what an agent needs is in the "
        "server's instructions and in `schema`.",
    ),
    "as.setup.no-owner-bearer": Promise(
        source="design: owner credentials never reach MCP",
        says="The setup page never asks for owner tokens, token variables or profiles.",
        scenario=("S124",),
    ),
}
