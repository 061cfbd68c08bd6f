"""What the resource server promises: the /v1 API over HTTP."""

from tests.requirements import later
from tests.requirements.promise import Promise

PROMISES: dict[str, Promise] = {
    # search by meaning
    "rs.search.meaning": Promise(
        source="issue 15: meaning, offline",
        says="A record that says the same in other words is found, with its nearest passage and without a mark.",
    ),
    "rs.search.mode-refused": Promise(
        source="ruling 4",
        says="A mode of search that the server lacks is refused by name, with the modes that it has.",
    ),
    "rs.search.index-state": Promise(
        source="ruling 51",
        says="Whether the index of meaning is behind is told by visible records alone, with the number that wait.",
    ),
    "rs.search.meaning-hidden": Promise(
        source="issue 15: two worlds in every mode",
        says="What a grant hides changes nothing of a search by meaning: no hit, no order, no count, no score.",
    ),
    "rs.search.meaning-names": Promise(
        source="issue 15: a name that is a declared actor counts as who spoke",
        says="By meaning, too, the name of who spoke lifts what they said; it is no part of what is meant.",
    ),
    "rs.search.cursor-mode": Promise(
        source="ruling 51",
        says="A cursor goes on in the mode that was used, or is refused.",
    ),
    # transport and headers
    "rs.transport.json-body": Promise(
        source="resource server contract: transport",
        says="Every answer of /v1 with a body is JSON and says so in its content type.",
    ),
    "rs.transport.bearer-header": Promise(
        source="resource server contract: transport",
        says="A token counts only in the Authorization header, never in the query string.",
    ),
    "rs.transport.head-mirrors-get": Promise(
        source="resource server contract: transport",
        says="HEAD on every read answers with the status and headers of GET and no body.",
    ),
    "rs.transport.repeated-parameters": Promise(
        source="resource server contract: transport",
        says="A list parameter may be repeated, with or without brackets, and means the same.",
    ),
    "rs.transport.nested-parameters": Promise(
        source="resource server contract: transport",
        says="Bracketed parameters nest to depth 8, and a list of more than 64 values is refused by name.",
    ),
    "rs.headers.request-id": Promise(
        source="resource server contract: headers",
        says="Every answer carries Request-Id, the caller's own if it sent one, else a new one, and an error body "
        "repeats it.",
        ruling=(24,),
    ),
    "rs.headers.x-request-id": Promise(
        source="resource server contract: headers",
        says="Every answer carries X-Request-Id with the same value as Request-Id.",
    ),
    "rs.headers.version": Promise(
        source="resource server contract: headers",
        says="Every answer, also a refusal, carries PDPP-Version: 2026-04-06.",
    ),
    "rs.headers.version-refused": Promise(
        source="resource server contract: headers",
        says="Any other PDPP-Version in the request gives 400 `unsupported_version` before the token is looked at.",
    ),
    "rs.headers.cache-control": Promise(
        source="resource server contract: caching",
        says="Every read of /v1 answers with Cache-Control: private, no-store.",
    ),
    "rs.parameters.unknown-refused": Promise(
        source="resource server contract: transport",
        says="An unknown query parameter gives 400 `invalid_request` on every endpoint and is named in `param`.",
        ruling=(25,),
    ),
    "rs.limits.shares": Promise(
        source="design: where the truth is",
        says="Whatever one token asks for, at either door, half of the readers are left to others, and those who wait "
        "take turns by token.",
    ),
    "rs.limits.rate": Promise(
        source="resource server contract: transport",
        says="A token over its rate gets 429 `rate_limit_exceeded` with Retry-After, and other tokens are not slowed.",
        ruling=(26,),
    ),
    # tokens
    "rs.tokens.kinds": Promise(
        source="resource server contract: token kinds",
        says="Only owner and client tokens open /v1; a token of any other kind answers 401.",
    ),
    "rs.tokens.opaque": Promise(
        source="resource server contract: token kinds",
        says="The kind of a token comes from the token table, never from how the token looks.",
    ),
    "rs.tokens.owner-only-operations": Promise(
        source="resource server contract: errors",
        says="A client token on an operation of the owner gets 403 `permission_error`, and nothing is taken in.",
    ),
    "rs.tokens.challenge": Promise(
        source="resource server contract: inactive tokens",
        says="A missing or unknown token gives 401 `authentication_error` with a Bearer challenge that names the "
        "resource metadata, and the body names it too with a next step.",
    ),
    "rs.tokens.expired": Promise(
        source="resource server contract: inactive tokens",
        says='An expired access token gives 401 `authentication_error` and a challenge with `error="invalid_token"`, '
        "not `grant_expired`.",
        ruling=(13,),
    ),
    "rs.tokens.inactive-reasons": Promise(
        source="resource server contract: inactive tokens",
        says="A live token of an ended grant gives 403 with `grant_revoked`, `grant_expired` or `grant_invalid`.",
        ruling=(13,),
    ),
    "rs.tokens.introspection-cache": Promise(
        source="resource server contract: token kinds",
        says="A resource server that stands apart may keep a positive introspection for at most 60 seconds, and keeps "
        "none unless told to.",
        ruling=(13,),
    ),
    "rs.separate.reads": Promise(
        source="authorization contract: introspection",
        says="A resource server that stands apart reads by tokens of another server as that one would; of its own it "
        "knows the owner's only.",
    ),
    "rs.separate.revocation": Promise(
        source="authorization contract: revocation",
        says="What is revoked at the authorization server is refused by the next request to the resource server.",
        ruling=(13,),
    ),
    "rs.separate.one-answer": Promise(
        source="authorization contract: introspection",
        says="Rights come from one answer, whole; where its issuer, address, time, identity, grant, source or kind "
        "does not fit, the token is nobody's.",
        ruling=(15,),
    ),
    "rs.separate.closed": Promise(
        source="authorization contract: introspection",
        says="Where the authorization server does not answer, nothing is read.",
    ),
    "rs.separate.packages": Promise(
        source="authorization contract: introspection",
        says="An answer about a package says nothing of its rights, so a package is not heard there.",
    ),
    "rs.separate.discovery": Promise(
        source="authorization contract: protected resource metadata",
        says="Its metadata name the other server, and it has no endpoint that issues, and no page that grants.",
    ),
    "rs.separate.address": Promise(
        source="authorization contract: protected resource metadata",
        says="A client that knows only its address finds the other server, asks there, and reads here.",
    ),
    "rs.separate.pages": Promise(
        source="design: the owner",
        says="Its pages lead to none that only the other server has.",
    ),
    "rs.separate.settings": Promise(
        source="design: settings",
        says="A setting that is missing is named before anything is served, and secrets go nowhere without TLS.",
    ),
    "rs.tokens.audience": Promise(
        source="authorization contract: introspection",
        says="A token issued for another resource is refused.",
        ruling=(15,),
    ),
    # enforcement order
    "rs.enforcement.order": Promise(
        source="resource server contract: grant enforcement order",
        says="A request with several faults reports the first of version, token, stream, connection and field.",
    ),
    "rs.enforcement.stream-not-granted": Promise(
        source="resource server contract: grant enforcement order",
        says="A stream outside the grant gives 403 `grant_stream_not_allowed`.",
    ),
    "rs.enforcement.connection-narrows": Promise(
        source="resource server contract: grant enforcement order",
        says="A `connection_id` outside the grant gives 404 `connection_not_found`, whether or not it exists.",
    ),
    "rs.enforcement.hidden-not-found": Promise(
        source="resource server contract: grant enforcement order",
        says="A record that the grant hides gives the same 404 `not_found` as one that does not exist.",
    ),
    "rs.enforcement.undeclared-stream": Promise(
        source="resource server contract: grant enforcement order",
        says="A read in a granted stream that its source no longer declares gives 404 `stream_not_declared`, not "
        "`not_found`.",
    ),
    "rs.enforcement.undeclared-search": Promise(
        source="resource server contract: grant enforcement order",
        says="A search of nothing but such streams gives 404 `stream_not_declared`, not an empty page.",
    ),
    "rs.enforcement.ambiguous": Promise(
        source="resource server contract: grant enforcement order",
        says="A record id that two granted connections really hold gives 409 `ambiguous_connection`, and one that "
        "only one of them holds is answered.",
        ruling=(33,),
    ),
    "rs.enforcement.fan-in": Promise(
        source="resource server contract: grant enforcement order",
        says="Schema and search without a `connection_id` cover every granted connection.",
    ),
    # connection selector
    "rs.selector.alias-warned": Promise(
        source="resource server contract: connection selector",
        says="`connector_instance_id` works as `connection_id` and adds a `deprecated_alias_used` warning.",
    ),
    "rs.selector.alias-conflict": Promise(
        source="resource server contract: connection selector",
        says="`connection_id` and `connector_instance_id` with different values give 400 `invalid_argument`.",
    ),
    "rs.selector.schema-without-alias": Promise(
        source="resource server contract: connection selector",
        says="The schema endpoint takes `connection_id` only and refuses the alias as an unknown parameter.",
    ),
    "rs.selector.empty-is-absent": Promise(
        source="resource server contract: connection selector",
        says="An empty `connection_id` means the same as none.",
    ),
    "rs.selector.canonical-out": Promise(
        source="resource server contract: connection selector",
        says="Answers name a connection as `connection_id` only.",
    ),
    "rs.selector.owner-names-source": Promise(
        source="resource server contract: connection selector",
        says="An owner token on a server with several connectors must name `connector_id` or `connection_id`, else "
        "400.",
    ),
    # envelope and warnings
    "rs.envelope.links-and-meta": Promise(
        source="resource server contract: success envelope",
        says="Every JSON read ends with a relative `links.self` and with `meta.count` and `meta.warnings`.",
    ),
    "rs.envelope.links-next": Promise(
        source="resource server contract: success envelope",
        says="`links.next` is there on list answers only, leads to the next page, and is null on the last.",
    ),
    "rs.envelope.flat": Promise(
        source="resource server contract: success envelope",
        says="A single object is the body itself and is not wrapped under data.",
    ),
    "rs.envelope.changes-next": Promise(
        source="resource server contract: success envelope",
        says="On a change feed `links.next` carries only the cursor until the last page.",
    ),
    "rs.warnings.closed-set": Promise(
        source="resource server contract: warnings",
        says="A warning has a code of the closed set and a message, and never changes the status.",
    ),
    "rs.warnings.limit-clamped": Promise(
        source="resource server contract: warnings",
        says="A limit above the maximum is lowered to it with `limit_clamped` and both numbers in its detail.",
    ),
    "rs.warnings.source-skipped": Promise(
        source="resource server contract: warnings",
        says="A fan-in that leaves out a source says `source_skipped_not_applicable` and which one.",
    ),
    "rs.warnings.fan-in-needs-none": Promise(
        source="resource server contract: warnings",
        says="A list over several connections gives exact counts and a cursor, so it never warns of partial results.",
        ruling=(11,),
    ),
    # cursors
    "rs.cursors.sealed": Promise(
        source="resource server contract: paging cursors",
        says="A cursor is sealed: it shows no record value, and one changed byte makes it `invalid_cursor`.",
        ruling=(18,),
    ),
    "rs.cursors.bounded-size": Promise(
        source="resource server contract: paging cursors",
        says="A cursor is at most 160 bytes, and its length does not depend on what it points at.",
        ruling=(18,),
    ),
    "rs.cursors.bound-to-grant": Promise(
        source="resource server contract: paging cursors",
        says="A cursor of another grant gives 400 `invalid_cursor`.",
        ruling=(18,),
    ),
    "rs.cursors.bound-to-query": Promise(
        source="resource server contract: paging cursors",
        says="A cursor used with other words, streams, connections, order, filter or fields gives 400 "
        "`invalid_cursor`.",
        ruling=(18,),
    ),
    "rs.cursors.no-growing-table": Promise(
        source="resource server contract: paging cursors",
        says="Paging through searches leaves no row behind in the database.",
        ruling=(19,),
    ),
    "rs.cursors.direction-bound": Promise(
        source="resource server contract: paging cursors",
        says="A records cursor with the other order gives `invalid_cursor` and is stable under inserts.",
    ),
    "rs.cursors.two-spaces": Promise(
        source="resource server contract: paging cursors",
        says="A page cursor used as `changes_since`, or the reverse, gives 400 `invalid_cursor`.",
    ),
    # schema
    "rs.schema.full-body": Promise(
        source="resource server contract: schema",
        says="The full schema gives, for each granted stream, its declaration, field capabilities and connections.",
    ),
    "rs.schema.compact-body": Promise(
        source="resource server contract: schema, compact body",
        says="`view=compact` gives counts, one short row for each stream and one flag string for each field, and no "
        "JSON Schema.",
    ),
    "rs.schema.compact-keeps": Promise(
        source="resource server contract: schema, compact body",
        says="A compact row keeps semantics, `consent_time_field` and the ids of its views.",
    ),
    "rs.schema.flag-grammar": Promise(
        source="resource server contract: schema, compact body",
        says="A flag string follows the grammar t, role, g, eq, r, lex, sem, a, and separators inside values become "
        "underscores.",
    ),
    "rs.schema.capability-flags": Promise(
        source="resource server contract: schema",
        says="A capability is usable only if it is declared and its field is granted, else it names the reason.",
    ),
    "rs.schema.roles-declared": Promise(
        source="resource server contract: schema",
        says="Type and role of a field are what the declaration marks on the property, and nothing if it marks none.",
    ),
    "rs.schema.bearer": Promise(
        source="resource server contract: schema",
        says="The schema says the kind and scope of the token, and for a client its grant and client ids.",
    ),
    "rs.schema.granted-only": Promise(
        source="resource server contract: schema",
        says="A client sees only the streams and connections of its grant.",
    ),
    "rs.schema.stream-scope": Promise(
        source="resource server contract: schema",
        says="`stream` and `connection_id` keep only the rows of that stream and that connection.",
    ),
    "rs.schema.no-match": Promise(
        source="resource server contract: schema",
        says="A selector that matches nothing gives 200 with no connectors.",
    ),
    "rs.schema.detail-needs-stream": Promise(
        source="resource server contract: schema",
        says="`detail=full` without a stream gives 400 `invalid_request` with param `detail`.",
    ),
    "rs.schema.ambiguous-detail": Promise(
        source="resource server contract: schema",
        says="`detail=full` for a stream of several sources gives 409 `ambiguous_schema_detail` with the connections "
        "to choose from and `retry_with` `connection_id`.",
    ),
    "rs.schema.connections-lifted": Promise(
        source="resource server contract: schema, compact body",
        says="Connections shared by the streams of a connector stand once on the connector.",
    ),
    "rs.schema.display-name": Promise(
        source="resource server contract: schema",
        says="A placeholder, the connector key, a registry address or the connection id is never shown as a label.",
    ),
    "rs.schema.connector-key": Promise(
        source="resource server contract: schema",
        says="`connector_key` is the short key in every answer, and the address stands only in `source.id`.",
        ruling=(20,),
    ),
    "rs.schema.budget": Promise(
        source="resource server contract: schema",
        says="A compact schema of 19 connections stays under 60,000 bytes and of one stream under 6,000.",
    ),
    "rs.schema.expand-capabilities": Promise(
        source="resource server contract: schema",
        says="An expansion is listed with its limits, and is not usable if the related stream is not granted.",
    ),
    # connectors and streams
    "rs.connectors.list": Promise(
        source="resource server contract: connectors",
        says="The connectors endpoint lists the sources that the bearer may see, with counts and usable queries.",
    ),
    "rs.streams.rows": Promise(
        source="resource server contract: streams",
        says="The streams endpoint has one row for each stream and connection, with connector key and label.",
        scenario=("S005",),
    ),
    "rs.streams.visible-counts": Promise(
        source="resource server contract: streams",
        says="Counts and `last_updated` are computed over the rows that the grant shows.",
    ),
    "rs.streams.freshness": Promise(
        source="resource server contract: streams",
        says="Freshness is current, stale or unknown, and current only under a declared maximum age.",
    ),
    "rs.streams.metadata": Promise(
        source="resource server contract: stream metadata",
        says="Stream metadata is whole for a granted stream and 403 for another.",
    ),
    # records
    "rs.records.page": Promise(
        source="resource server contract: records",
        says="A page has at most limit records, 25 unless told, and following `next_cursor` gives every record once.",
    ),
    "rs.records.limit-refused": Promise(
        source="resource server contract: records",
        says="A limit of zero, below zero or not a number gives 400.",
    ),
    "rs.records.order": Promise(
        source="resource server contract: records",
        says="Records come by cursor field, then primary key, compared by declared type, newest first unless told.",
    ),
    "rs.records.nulls-last": Promise(
        source="resource server contract: records",
        says="Records without a value of the cursor field come last in both directions.",
        ruling=(10,),
    ),
    "rs.records.sort-refused": Promise(
        source="resource server contract: records",
        says="A sort by a field that cannot be ranged over, or against order, gives 400 `invalid_sort`, by one not "
        "granted 403, both with the fields that can be; a strict server sorts for clients by the cursor field alone.",
        scenario=("S121",),
        ruling=(47,),
    ),
    "rs.records.sort": Promise(
        source="decisions: numbers by group, sorting",
        says="`sort` takes any granted field that can be ranged over, records without a value last and ties in the "
        "order of the stream, and its cursor goes on in that order.",
        ruling=(47,),
    ),
    "rs.records.count": Promise(
        source="resource server contract: records",
        says="`count=exact` counts the whole visible filtered set.",
    ),
    "rs.records.window": Promise(
        source="resource server contract: records",
        says="`window=exact` gives the total and the earliest and latest consent time of the visible set.",
    ),
    "rs.records.client-narrowing": Promise(
        source="design: narrowing works",
        says="A client may use filter, sort, count, view and expand on granted fields, by the declaration that was "
        "consented to.",
        ruling=(1,),
    ),
    "rs.records.core-strict": Promise(
        source="design: narrowing works",
        says="`PDPP_CORE_STRICT=1` refuses filter, expand and view of a client with 400 before any lookup.",
        ruling=(1,),
    ),
    "rs.schema.core-strict": Promise(
        source="design: narrowing works",
        says="Under `PDPP_CORE_STRICT=1` no answer of any door offers a client what would be refused.",
        ruling=(1,),
    ),
    "rs.schema.bearer-grant": Promise(
        source="resource server contract: schema",
        says="`bearer.grant_id` is the grant that the answer is about; with several of a package there is none.",
    ),
    "rs.records.filters": Promise(
        source="resource server contract: records",
        says="Exact filters work on granted scalars, range filters where declared, and all of them must hold.",
    ),
    "rs.records.filter-refused": Promise(
        source="resource server contract: records",
        says="A filter on an unknown field, an ungranted field, an undeclared range or a bad value is refused by name.",
    ),
    "rs.records.projection": Promise(
        source="resource server contract: records",
        says="A record has the requested and granted fields, its primary key, and nothing else.",
        ruling=(30,),
    ),
    "rs.records.view": Promise(
        source="resource server contract: records",
        says="A view gives its fields, an unknown view is refused, and a view beside fields is refused.",
    ),
    "rs.records.expand": Promise(
        source="resource server contract: records",
        says="An expansion holds the related records of the same connection, under the related stream's own limits.",
    ),
    "rs.records.expand-refused": Promise(
        source="resource server contract: records",
        says="An unknown or nested relation or a limit above the declared one gives `invalid_expand`, and an "
        "ungranted stream `insufficient_scope`.",
    ),
    "rs.records.fan-in": Promise(
        source="resource server contract: records",
        says="Several connections of one grant merge into one order with one cursor and one global limit.",
        ruling=(11,),
    ),
    # changes
    # around a record
    "rs.around.neighbours": Promise(
        source="decisions: around",
        says="`around` gives a record and those right before and after it, oldest first: `limit` counts all of them, "
        "half stand before it and half behind, and at an end the other side fills the page.",
        ruling=(44,),
    ),
    "rs.around.talk": Promise(
        source="decisions: around",
        says="What is around a record is of its own talk: the same value in a granted field of role `thread`, else, "
        "where people speak in order of time, the same granted title, else the whole stream.",
        ruling=(44,),
    ),
    "rs.around.cursors": Promise(
        source="decisions: around",
        says="`meta.around` has a cursor each way where there is more, which goes on around the same record under the "
        "same grant and nowhere else.",
        ruling=(44,),
    ),
    "rs.around.refused": Promise(
        source="decisions: around",
        says="A record that is hidden, deleted or unknown is `not_found` as in a fetch, and around takes no filter, "
        "sort, order, changes_since or expand; a strict server takes no around from clients.",
        ruling=(44,),
    ),
    "rs.around.hidden": Promise(
        source="design: a grant is asked in one place",
        says="A record, a time or a name of a talk that the grant hides changes nothing of what is around a record.",
        ruling=(44,),
    ),
    "rs.changes.session": Promise(
        source="resource server contract: change tracking",
        says="A session is fixed at its first page; later writes come in the next session, one entry for each key.",
    ),
    "rs.changes.bookmark": Promise(
        source="resource server contract: change tracking",
        says="The last page has `next_changes_since`, and anything but beginning or a bookmark is `invalid_cursor`.",
    ),
    "rs.changes.beginning": Promise(
        source="resource server contract: change tracking",
        says="`changes_since=beginning` always works, also after history was pruned.",
        ruling=(17,),
    ),
    "rs.changes.expired": Promise(
        source="resource server contract: change tracking",
        says="A bookmark older than the kept history gives 410 `cursor_expired`.",
    ),
    "rs.changes.hidden-change": Promise(
        source="resource server contract: change tracking",
        says="A change in fields that the grant hides does not appear in the feed.",
    ),
    "rs.changes.tombstone": Promise(
        source="resource server contract: change tracking",
        says="A deleted record gives a tombstone with both times and no data.",
    ),
    "rs.changes.leaves-window": Promise(
        source="resource server contract: change tracking",
        says="A record that leaves the window of the grant gives a tombstone.",
        ruling=(17,),
    ),
    "rs.changes.refused-parameters": Promise(
        source="resource server contract: change tracking",
        says="A change feed refuses sort, count, order, window and expand.",
    ),
    "rs.changes.several-connections": Promise(
        source="resource server contract: change tracking",
        says="A change feed over several connections keeps one sealed position.",
        ruling=(11,),
    ),
    # single record
    "rs.fetch.record": Promise(
        source="resource server contract: single record",
        says="A record is answered with id, stream, data, `emitted_at`, `connection_id` and `connector_key`.",
    ),
    "rs.fetch.compound-key": Promise(
        source="resource server contract: single record",
        says="A record with a compound key is read by its percent-encoded key, and so is a key with slashes.",
    ),
    "rs.fetch.fields": Promise(
        source="resource server contract: single record",
        says="`fields` gives the requested and granted fields, the primary key, and nothing else.",
        ruling=(30,),
    ),
    "rs.fetch.field-not-granted": Promise(
        source="resource server contract: single record",
        says="A declared field outside the grant gives 403 `field_not_granted`, and an undeclared one 400 "
        "`unknown_field`.",
    ),
    "rs.fetch.ambiguous-candidates": Promise(
        source="resource server contract: single record",
        says="The 409 of an ambiguous record lists the connections that hold it and says `retry_with` `connection_id`.",
        ruling=(23, 33),
    ),
    "rs.fetch.no-stored-size": Promise(
        source="resource server contract: single record",
        says="A client never learns the size of the stored record.",
    ),
    "rs.fetch.expand": Promise(
        source="resource server contract: single record",
        says="One record may be read with its granted relations.",
    ),
    # field window
    "rs.window.shape": Promise(
        source="resource server contract: field window",
        says="A window says its text, start, end, total, whether it is complete, and the next and previous offsets.",
    ),
    "rs.window.complete": Promise(
        source="resource server contract: field window",
        says="`complete` is true only if the window holds the field from its first character to its last.",
    ),
    "rs.window.joined-windows": Promise(
        source="resource server contract: field window",
        says="Following `next_offset_chars` from the start gives the field again, character by character.",
        ruling=(9,),
    ),
    "rs.window.code-points": Promise(
        source="resource server contract: field window",
        says="Offsets count Unicode code points, also after emoji.",
        ruling=(9,),
    ),
    "rs.window.limits": Promise(
        source="resource server contract: field window",
        says="A window has 4,096 characters unless told, at most 16,384 with a warning, and bad numbers are "
        "`invalid_window`.",
    ),
    "rs.window.query": Promise(
        source="resource server contract: field window",
        says="`q` opens the window at the first match whatever its case, says where it is, and 404 `query_not_found` "
        "if there is none.",
    ),
    "rs.window.context": Promise(
        source="resource server contract: field window",
        says="`before_chars` and `after_chars` need `q` and are at most 8,192, and `q` excludes `offset_chars`.",
    ),
    "rs.window.refusals": Promise(
        source="resource server contract: field window",
        says="No field is `invalid_field_path`, an ungranted one `field_not_granted` before anything is read, and an "
        "absent one `field_not_found`.",
    ),
    "rs.window.json": Promise(
        source="resource server contract: field window",
        says="An object or array is windowed over its canonical JSON as type json, and numbers, booleans, nulls and "
        "blob references are `field_not_text`.",
        ruling=(34,),
    ),
    "rs.window.names-connection": Promise(
        source="resource server contract: field window",
        says="A window names the connection it was read from.",
    ),
    "rs.window.cut-in-store": Promise(
        source="resource server contract: field window",
        says="The window is cut in the store after the grant was asked, and no door gets the whole text.",
        scenario=("S131",),
    ),
    # aggregate
    "rs.aggregate.metrics": Promise(
        source="resource server contract: aggregate",
        says="`count`, `sum`, `min`, `max` and `count_distinct` are computed over visible rows and skip missing "
        "values.",
    ),
    "rs.aggregate.declared-only": Promise(
        source="resource server contract: aggregate",
        says="Only a declared aggregation of a granted field is answered, and others are refused by name.",
    ),
    "rs.aggregate.groups": Promise(
        source="resource server contract: aggregate",
        says="Groups come by count then key, and `other_count` adds up what was cut.",
    ),
    "rs.aggregate.time-buckets": Promise(
        source="resource server contract: aggregate",
        says="Time buckets are wall-clock in the asked zone, carry a start with offset, and the most recent are kept.",
        ruling=(11,),
    ),
    "rs.aggregate.grouped-numbers": Promise(
        source="decisions: numbers by group, sorting",
        says="`sum`, `min`, `max` and `count_distinct` are given for each value, from the largest on (`min` from the "
        "smallest) and then by key, or for each period; `other_count` counts records, and a sum adds `other_value`. A "
        "strict server gives them to the owner only.",
        ruling=(47,),
        diverges="Sums come from the largest on whatever their sign: by the number alone, the ten largest of what "
        "somebody spent were the ten for whom the least was spent.",
    ),
    "rs.aggregate.exact-sums": Promise(
        source="decisions: numbers by group, sorting",
        says="A sum is that of the numbers as they are written in their records, rounded once at the most: three "
        "times 0.1 is 0.3.",
        ruling=(47,),
    ),
    "rs.aggregate.limit": Promise(
        source="resource server contract: aggregate",
        says="`limit` is 1 to 100, 10 unless told, only with groups, and 400 outside.",
    ),
    "rs.aggregate.fan-in": Promise(
        source="resource server contract: aggregate",
        says="Several connections are merged before groups are cut, and distinct values are counted over the union.",
        ruling=(11,),
    ),
    "rs.aggregate.empty": Promise(
        source="resource server contract: aggregate",
        says="Where no value is left, counts and sums are 0 and an extreme is null.",
    ),
    "rs.aggregate.strict": Promise(
        source="resource server contract: aggregate",
        says="A parameter that is missing, unknown, repeated, or does not go with the others is refused by name.",
    ),
    "rs.aggregate.typed-keys": Promise(
        source="resource server contract: aggregate",
        says="The key of a group is a whole value of its field: true or false, a number, a date, a text to its end.",
    ),
    "rs.aggregate.calendar-days": Promise(
        source="our own ruling",
        says="A date without a time of day falls into the same bucket whatever zone is asked.",
    ),
    "rs.aggregate.filtered": Promise(
        source="resource server contract: aggregate",
        says="Filters on granted fields narrow what is counted, unless the server keeps to Core.",
        ruling=(1,),
    ),
    "rs.aggregate.hidden": Promise(
        source="design: hidden means hidden",
        says="Records that a grant hides change no number and no group.",
    ),
    "rs.aggregate.logged": Promise(
        source="design: no log line, no record",
        says="The log names the fields that were counted by, no record, and no value that was filtered for.",
    ),
    # errors
    "rs.errors.envelope": Promise(
        source="resource server contract: errors",
        says="Every refusal is one error object with type, code, message and `request_id`, and param where one is to "
        "blame.",
        ruling=(24,),
    ),
    "rs.errors.table": Promise(
        source="resource server contract: errors",
        says="Every code has the listed status and type.",
    ),
    "rs.errors.conflict-types": Promise(
        source="resource server contract: errors",
        says="Status 409 has type `conflict_error` and status 422 has type `unprocessable_error`.",
        ruling=(23,),
    ),
    "rs.errors.own-codes": Promise(
        source="resource server contract: errors",
        says="The codes of our own have their statuses: five 400, `disclosure_log_unavailable` 503, "
        "`source_unavailable` 502.",
        ruling=(37,),
    ),
    "rs.errors.round-trip": Promise(
        source="resource server contract: errors",
        says="Every refusal survives being encoded and decoded, and an unknown code becomes an internal error.",
    ),
    "rs.errors.unmapped": Promise(
        source="resource server contract: errors",
        says="A bug answers 500 `api_error` with the request id and nothing of the cause.",
    ),
    "rs.errors.no-broader-grant": Promise(
        source="resource server contract: errors",
        says="The resource server never answers `needs_broader_grant`.",
    ),
    "rs.errors.untrusted-host": Promise(
        source="resource server contract: errors",
        says="A host that is not trusted gets 421 `misdirected_request` where addresses would be printed.",
    ),
    # search
    "rs.search.query-required": Promise(
        source="resource server contract: search",
        says="A search without `q`, or with an empty one, gives 400 with param `q`.",
    ),
    "rs.search.lean": Promise(
        source="ruling 46",
        says="With the preference `pdpp-evidence=lean` a search gives each text once, with actor, amount and "
        "offsets of marks; without it the form stays.",
        ruling=(46,),
    ),
    "rs.search.limit": Promise(
        source="resource server contract: search",
        says="A search gives 25 hits unless told and at most 100, and the limit holds over all connections together.",
        scenario=("S113", "S116"),
        ruling=(11,),
    ),
    "rs.search.paging": Promise(
        source="resource server contract: search",
        says="Following `next_cursor` gives every hit once and in the order of one long page.",
        ruling=(19,),
    ),
    "rs.search.streams-scope": Promise(
        source="resource server contract: search",
        says="`streams` narrows the search, and a stream outside the grant gives 403 `grant_stream_not_allowed`.",
    ),
    "rs.search.foreign-parameters": Promise(
        source="resource server contract: search",
        says="Parameters of other reads or of ranking, such as sort, fields, mode or boost, give 400 and are named.",
        ruling=(25,),
    ),
    "rs.search.hit": Promise(
        source="resource server contract: search",
        says="A hit names its stream, key, connection, connector key, label, times and matched fields, and has no "
        "whole record.",
    ),
    "rs.search.proven-evidence": Promise(
        source="resource server contract: search",
        says="A hit on a granted text field carries an excerpt with field, text, truncation and the read that goes on.",
        scenario=("S090", "S136"),
    ),
    "rs.search.evidence-offset": Promise(
        source="resource server contract: search",
        says="The read beside an excerpt opens the window at the match, in code points.",
        ruling=(9,),
    ),
    "rs.search.no-evidence-unproven": Promise(
        source="resource server contract: search",
        says="A hit whose field is not proven has no excerpt and no snippet.",
        scenario=("S091",),
    ),
    "rs.search.prefixes": Promise(
        source="decision 0008",
        says="A query has at most four prefixes, of 3 to 600 letters; a fifth or a longer one is refused, a shorter "
        "one is looked for as a word, and the answer says so.",
    ),
    "rs.search.words-ranked": Promise(
        source="resource server contract: search",
        says="Words are ranked together, may stand in different fields, and need not all occur.",
        ruling=(36,),
    ),
    "rs.search.words-narrow": Promise(
        source="resource server contract: search",
        says="Quotes ask for a phrase, a star for a beginning and a minus for absence.",
        ruling=(36,),
    ),
    "rs.search.any-text": Promise(
        source="resource server contract: search",
        says="Any text is a search: operators of the index language are words, and a text without a word to look for "
        "gives the newest records and says so.",
    ),
    "rs.search.read-as": Promise(
        source="resource server contract: search",
        says="What a search understood otherwise than it was typed is said in a few words.",
    ),
    "rs.search.suggestions": Promise(
        source="resource server contract: search",
        says="For a word that stands nowhere, one that differs in one letter and stands in visible records is "
        "suggested, never put in its place, and logged.",
    ),
    "rs.search.one-hit-per-record": Promise(
        source="resource server contract: search",
        says="A record that matches in several fields is one hit.",
    ),
    "rs.search.hidden-fields": Promise(
        source="resource server contract: search",
        says="Only granted and declared text fields are searched; a word in another field finds nothing.",
    ),
    "rs.search.authored-at": Promise(
        source="resource server contract: search",
        says="`authored_at` comes only from a granted field.",
        ruling=(32,),
    ),
    "rs.search.recall": Promise(
        source="resource server contract: search",
        says="The answer says how many hits were counted, how exactly, and whether all matches were ranked.",
    ),
    "rs.search.balanced-marks": Promise(
        source="resource server contract: search",
        says="Highlight marks in a snippet are balanced or absent.",
        scenario=("S114",),
    ),
    "rs.search.dates": Promise(
        source="resource server contract: search",
        says="Dates in a question lift hits of that time where the grant shows it, and exclude nothing; what can be "
        "read in two ways lifts nothing; relative ones count from the request for the first page.",
        ruling=(50,),
    ),
    "rs.search.coverage": Promise(
        source="resource server contract: search",
        says="The more of a question's weight a record holds, the higher it stands.",
    ),
    "rs.search.names": Promise(
        source="resource server contract: search",
        says="A name in a question that is mostly somebody's who spoke counts as who spoke.",
    ),
    "rs.search.titles": Promise(
        source="resource server contract: search",
        says="Where nobody speaks, a record whose whole title stands in a question comes before those that name it; "
        "what the grant hides calls nothing.",
    ),
    "rs.search.talks": Promise(
        source="resource server contract: search",
        says="A talk that matches in many places lifts its records.",
    ),
    "rs.search.not-searched": Promise(
        source="resource server contract: search",
        says="A search in streams of which nothing that may be read is looked into in the mode that is used says so, "
        "and names no word as missing.",
    ),
    "rs.records.filter-parts": Promise(
        source="resource server contract: records",
        says="Where no record passes a filter on several fields, it is said how many pass what is asked of each alone.",
    ),
    "rs.search.sources": Promise(
        source="resource server contract: search",
        says="Of several sources each word is as telling as in its own source or among all, by what is visible.",
    ),
    "rs.search.passage": Promise(
        source="resource server contract: search",
        says="A hit found only through its neighbours or its meaning says that it has no match of its own.",
        ruling=(36,),
    ),
    "rs.search.filter": Promise(
        source="resource server contract: search",
        says="A filter in a search needs exactly one stream.",
    ),
    "rs.search.semantic": Promise(
        source="resource server contract: search",
        says="Semantic search is there only with a model and never answers with lexical hits instead.",
    ),
    "rs.search.hybrid": Promise(
        source="resource server contract: search",
        says="Hybrid search fuses both rankings, keeps excerpts, and each hit says how it was found.",
        diverges="By shares of the scores of each, and not by ranks (docs/decisions/0035).",
    ),
    "rs.search.score": Promise(
        source="resource server contract: search",
        says="A hit has a score only where discovery advertises one.",
    ),
    # blobs
    "rs.blobs.authorized": Promise(
        source="resource server contract: blobs",
        says="A blob is readable only with a token that sees a record and field that refer to it, else "
        "`blob_not_found`.",
        scenario=("S008",),
        ruling=(27,),
    ),
    "rs.blobs.headers": Promise(
        source="resource server contract: blobs",
        says="A blob has its type, length, nosniff, a strong ETag, and is an attachment unless the type is safe.",
        ruling=(27,),
    ),
    "rs.blobs.range": Promise(
        source="resource server contract: blobs",
        says="A range of a blob is answered with 206, one beyond its end with 416, and anything else with the whole.",
        ruling=(27,),
    ),
    "rs.blobs.fetch-url": Promise(
        source="resource server contract: blobs",
        says="A blob reference is served with its address, which the server alone writes.",
    ),
    "rs.blobs.any-reference": Promise(
        source="resource server contract: blobs",
        says="Any field that is declared to refer to blobs does, one reference or a list of them.",
        ruling=(27,),
    ),
    "rs.blobs.ambiguous": Promise(
        source="resource server contract: blobs",
        says="A blob that records of several connections refer to is `ambiguous_connection` until one is named.",
    ),
    "rs.blobs.logged": Promise(
        source="design: no log line, no record",
        says="Bytes, headers and refused ranges of a blob are in the disclosure log before they leave.",
    ),
    "rs.blobs.keep": Promise(
        source="record model: ingest",
        says="The owner alone delivers a blob for a record; the same bytes again are the same blob.",
    ),
    "rs.blobs.too-large": Promise(
        source="record model: ingest",
        says="A blob above 50 MiB is refused with `resource_limit`.",
    ),
    "rs.blobs.digest": Promise(
        source="record model: ingest; RFC 9530",
        says="A blob that has another digest than its delivery says is refused, and nothing of it is kept.",
    ),
    # discovery
    "rs.discovery.index": Promise(
        source="resource server contract: discovery",
        says="The root answers with an index of the discovery documents and read endpoints.",
    ),
    "rs.discovery.protected-resource": Promise(
        source="authorization contract: protected resource",
        says="The resource metadata names the query base /v1, the hosted MCP endpoint and the authorization server.",
        scenario=("S025",),
    ),
    "rs.discovery.protected-resource-mcp": Promise(
        source="authorization contract: protected resource",
        says="The metadata for MCP names /mcp as its resource, its endpoint, and only token kinds of clients.",
        scenario=("S026", "S055"),
    ),
    "rs.discovery.public-origin": Promise(
        source="authorization contract: protected resource",
        says="Behind a trusted proxy the addresses use the public origin.",
        scenario=("S027",),
    ),
    "rs.discovery.no-profile": Promise(
        source="authorization contract: protected resource",
        says="The metadata advertises no profile and no `logo_uri`.",
        scenario=("S053", "S103"),
    ),
    "rs.discovery.true-today": Promise(
        source="design D11",
        says="Every address in a discovery document answers, and no document names an endpoint that is not served.",
    ),
    "rs.openapi.document": Promise(
        source="house: OpenAPI printed from the same tables",
        says="`/openapi.json` and `pdpp openapi` describe every route, every parameter and every refusal.",
    ),
    "rs.openapi.holds": Promise(
        source="house: OpenAPI printed from the same tables",
        says="What the server answers, to right and wrong requests alike, is what its document says.",
    ),
    # owner writes
    "rs.writes.methods": Promise(
        source="resource server contract: owner writes",
        says="A wrong method gives 405, and `Allow` names every method that the address takes.",
    ),
    "rs.ingest.batch": Promise(
        source="record model: ingest",
        says="The owner posts NDJSON lines and learns how many were accepted and which were rejected, and why, without "
        "a word of a record.",
    ),
    "rs.ingest.receipts": Promise(
        source="record model: ingest",
        says="A rejected line has a receipt, the same each time it is sent, by which the owner can look it up.",
        ruling=(21,),
    ),
    "rs.ingest.idempotent": Promise(
        source="record model: ingest",
        says="A batch that is sent again is accepted and changes nothing; an `append_only` record is not overwritten.",
        ruling=(21, 22),
    ),
    "rs.ingest.routing": Promise(
        source="record model: ingest",
        says="`connector_id` is needed; an unknown connector gives 400, an unknown connection or stream 404, and "
        "several connections of which none is named 409.",
        ruling=(23, 25),
    ),
    "rs.ingest.content-type": Promise(
        source="record model: ingest",
        says="A body that is not said to be application/x-ndjson is refused.",
    ),
    "rs.ingest.run": Promise(
        source="record model: ingest",
        says="The run that a batch belongs to is named in the server's log.",
        diverges="Runs are not known to the server, so none is over for it: `run_terminal` is never answered.",
    ),
    "rs.ingest.limits": Promise(
        source="record model: ingest",
        says="A body over 50 MiB, or one with more than 10,000 unfit lines, gives 413 `resource_limit`, and a storage "
        "failure 503 for the whole batch; of either nothing is stored.",
        diverges="A record may have 16 MiB; a longer line is rejected as a line, with the code `resource_limit`.",
    ),
    "rs.connections.declare": Promise(
        source="issue 18",
        says="The owner's tools can declare and name a connection before they deliver: the one that an import of that "
        "name would make, and the same one again.",
    ),
    "rs.connections.faulty": Promise(
        source="issue 18",
        says="A declaration that is faulty, contradicts an earlier one of its version or does not fit what is there is "
        "refused, and makes nothing.",
    ),
    "rs.state.emptied": Promise(source="issue 18", says="A stream that is emptied has no cursor any more."),
    "rs.state.round-trip": Promise(
        source="record model: sync state",
        says="The owner's tools can put the sync state of a connector and get it again, each stream by itself.",
    ),
    "rs.state.grant": Promise(
        source="record model: sync state",
        says="An active, continuous grant of the connector has a state of its own, and no other grant has one.",
    ),
    "rs.state.streams": Promise(
        source="record model: sync state",
        says="The state of an undeclared stream gives 404, of one outside the grant 400, and nothing of it is kept.",
    ),
    "rs.state.bad-input": Promise(
        source="record model: sync state",
        says="A state of another shape, over 1 MiB or for no certain connection is refused by name.",
    ),
    "rs.deletes.idempotent": Promise(
        source="resource server contract: owner writes",
        says="Deleting a record answers 204 whether or not it was there.",
    ),
    "rs.deletes.stream": Promise(
        source="resource server contract: owner writes",
        says="Deleting a stream of one connection leaves other streams and other connections whole.",
    ),
    "rs.deletes.bookmarks": Promise(
        source="record model: ingest",
        says="Bookmarks from before a stream was emptied give 410, for nothing tells what is gone.",
    ),
    "rs.deletes.routing": Promise(
        source="resource server contract: owner writes",
        says="A deletion that does not name a certain connection and stream is refused and deletes nothing.",
        ruling=(25,),
    ),
    "rs.events.subscriptions": Promise(
        source="resource server contract: event subscriptions",
        says="A client can subscribe to changes and gets signed events without record bodies.",
        deferred=later.EVENTS,
    ),
    "rs.connections.patience": Promise(
        source="decision 0027: who waits",
        says="A connection that does not finish its headers or its body, or does not take its answer, is ended, "
        "however it drips.",
    ),
    "rs.connections.bounded": Promise(
        source="decision 0027: who waits",
        says="Connections have a bound within what the process may open; where it is reached, whoever kept the server "
        "waiting longest makes room, and nobody whose request is being answered does.",
    ),
    "rs.connections.visitor": Promise(
        source="decision 0027: who waits",
        says="`X-Forwarded-For` is believed only of proxies that the owner named, read from its end.",
    ),
}
