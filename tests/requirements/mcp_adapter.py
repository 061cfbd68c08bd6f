"""What the MCP adapter promises: six read tools, one handle, two channels, nothing beyond the grant."""

from tests.requirements.promise import Promise

PROMISES: dict[str, Promise] = {
    # credentials
    "mcp.credentials.scoped": Promise(
        source="MCP adapter contract: server",
        says="With a cached scoped token the stdio adapter serves, and every read is made under that token's grant.",
        scenario=("S001",),
    ),
    "mcp.credentials.none": Promise(
        source="MCP adapter contract: server",
        says="Without a usable token it exits with 78, says how to get one, and uses no owner token instead.",
        scenario=("S002",),
    ),
    "mcp.credentials.connect-named": Promise(
        source="MCP adapter contract: server",
        says="The first way to a token that it names is pdpp connect.",
        scenario=("S002",),
    ),
    "mcp.credentials.owner-environment": Promise(
        source="design: owner credentials never reach MCP",
        says="An owner token or session in its environment makes it exit with 77, also beside a scoped token.",
        scenario=("S003", "S101"),
    ),
    "mcp.credentials.kind-asked": Promise(
        source="design: owner credentials never reach MCP",
        says="An owner token in the cache or in `PDPP_ACCESS_TOKEN` is refused with 77, whatever its file calls it.",
        scenario=("S101",),
    ),
    "mcp.credentials.client-named": Promise(
        source="design: processes and home",
        says="The only cached client is used unnamed; several and none named exit with 78 and list the names.",
    ),
    "mcp.credentials.revoked-live": Promise(
        source="authorization contract: revocation and expiry",
        says="After a revocation the next tool call of a running adapter is refused.",
    ),
    # stdio
    "mcp.stdio.stdout-protocol": Promise(
        source="MCP adapter contract: server",
        says="Standard output holds protocol messages only, and diagnostics go to standard error.",
        scenario=("S012",),
    ),
    "mcp.stdio.no-profiles": Promise(
        source="design: six tools, no profiles",
        says="No flag, variable or tool of the adapter names a profile.",
        scenario=("S097",),
    ),
    "mcp.stdio.no-server-needed": Promise(
        source="design: what it is",
        says="The adapter reads the embedded store with no server running.",
    ),
    "mcp.protocol.both-eras": Promise(
        source="design: two protocol eras",
        says="Clients of both protocol eras connect, list the tools and call them over stdio.",
    ),
    "mcp.protocol.unknown-tool": Promise(
        source="design: errors",
        says="A call of a tool that does not exist is a protocol error, and bad arguments are a refusal.",
    ),
    # adapter
    "mcp.adapter.changes-nothing": Promise(
        source="MCP adapter contract: server",
        says="Using every tool leaves grants, tokens, connections, declarations and records as they were.",
        scenario=("S004",),
    ),
    "mcp.adapter.same-door": Promise(
        source="MCP adapter contract: server",
        says="A tool shows what the /v1 endpoint shows under the same token, and tries no other credential.",
        scenario=("S100",),
    ),
    "mcp.adapter.network-port": Promise(
        source="design: commands",
        says="The adapter on another server answers as the adapter on the embedded store.",
    ),
    # tools/list
    "mcp.tools.exact-six": Promise(
        source="design: six tools, no profiles",
        says="The tools are schema, `query_records`, aggregate, search, fetch and `read_record_field`, and no others.",
        scenario=("S098",),
        ruling=(2,),
    ),
    "mcp.tools.no-others": Promise(
        source="design: six tools, no profiles",
        says="Every listed tool is one of the six reads; `list_streams`, `fetch_blob`, event and developer tools are "
        "absent.",
        scenario=("S098", "S102"),
        ruling=(2, 40),
    ),
    "mcp.tools.strict-arguments": Promise(
        source="MCP adapter contract: server",
        says="An argument that a tool does not know is refused by name with the valid ones, before any read.",
        scenario=("S007",),
    ),
    "mcp.arguments.empty-is-absent": Promise(
        source="ruling 48: arguments that mean nothing",
        says="A null or empty optional argument is absent; never `fields` and `view`, without which more is shown.",
        ruling=(48,),
    ),
    "mcp.arguments.number-as-text": Promise(
        source="ruling 48: arguments that mean nothing",
        says="A whole number written as text is that number; everything else stays strict.",
        ruling=(48,),
    ),
    "mcp.arguments.strict-converters": Promise(
        source="ruling 48: arguments that mean nothing",
        says="The converters of other makers take each input schema, or a list says which one they do not, and why.",
        ruling=(48,),
    ),
    "mcp.tools.limit-refused": Promise(
        source="design: nothing is silently different",
        says="A limit of 100 is accepted and 101 refused, not lowered.",
    ),
    "mcp.tools.annotations": Promise(
        source="MCP adapter contract: server",
        says="Every tool is marked read-only, not destructive, idempotent and closed-world.",
        scenario=("S122",),
    ),
    "mcp.tools.connection-argument": Promise(
        source="MCP adapter contract: tools",
        says="Every tool that reads data takes an optional `connection_id`, and none takes `connector_instance_id` or "
        "a connector address.",
        scenario=("S009", "S099"),
    ),
    "mcp.tools.guidance-once": Promise(
        source="MCP adapter contract: server",
        says="The long guidance on `connection_id` stands in the instructions and in no tool description.",
        scenario=("S127",),
    ),
    "mcp.tools.teach-handles": Promise(
        source="MCP adapter contract: search",
        says="Descriptions, output schemas, instructions and documentation all teach the one handle.",
        scenario=("S070",),
    ),
    "mcp.tools.static-descriptions": Promise(
        source="MCP adapter contract: server",
        says="The list of tools is the same for every grant and all data.",
    ),
    "mcp.tools.output-schemas": Promise(
        source="MCP adapter contract: tools",
        says="What a tool returns fits the output schema that it lists.",
    ),
    "mcp.instructions.first-512": Promise(
        source="MCP adapter contract: server",
        says="The first 512 characters of the instructions stand alone: schema first, `connection_id` and paging.",
        scenario=("S126",),
    ),
    "mcp.instructions.typed-filters": Promise(
        source="MCP adapter contract: server",
        says="They name typed filters too.",
        scenario=("S126",),
    ),
    "mcp.instructions.no-owner-token": Promise(
        source="MCP adapter contract: server",
        says="The instructions never ask for an owner token.",
        scenario=("S126",),
    ),
    # channels and refusals
    "mcp.channels.text-enough": Promise(
        source="design: two channels",
        says="The text alone holds whole handles, what was shown of how many, the cursor and the next call.",
        scenario=("S137",),
    ),
    "mcp.channels.structured-enough": Promise(
        source="design: two channels",
        says="The structured content alone holds the same, with the next calls as tool and arguments.",
    ),
    "mcp.channels.rest-call": Promise(
        source="design: two channels",
        says="A text with fewer items than its page prints the page's cursor and a call that goes on without a gap.",
        ruling=(31,),
    ),
    "mcp.channels.next-step-is-a-tool": Promise(
        source="MCP adapter contract: resources and handles",
        says="An incomplete preview names a tool call whose arguments are visible and that works as printed.",
        scenario=("S081",),
    ),
    "mcp.channels.no-dead-handles": Promise(
        source="MCP adapter contract: resources and handles",
        says="Every record, field or cursor handle that a text shows is accepted by the tool it names.",
        scenario=("S134",),
    ),
    "mcp.channels.no-resource-uris": Promise(
        source="MCP adapter contract: resources and handles",
        says="No pdpp:// address and no resource link appears in any output.",
        scenario=("S084", "S085"),
    ),
    "mcp.channels.request-id": Promise(
        source="MCP adapter contract: tools",
        says="Every result except that of fetch carries the request id that the log has.",
        ruling=(24,),
    ),
    "mcp.refusals.same-code": Promise(
        source="MCP adapter contract: server",
        says="A refusal is an error result with the code of the resource server, and nothing wider is tried.",
        scenario=("S010",),
    ),
    "mcp.refusals.remedy": Promise(
        source="MCP adapter contract: server",
        says="A refusal says in its text its code, what is wrong and what to do next.",
    ),
    "mcp.refusals.ambiguity": Promise(
        source="MCP adapter contract: hosted package",
        says="An ambiguity lists at most 12 candidates, one to a line with the same entries, then total and omitted.",
        ruling=(33,),
    ),
    # journeys
    "mcp.journeys.told": Promise(
        source="design: two channels",
        says="What clients show before the first call is never cut, and its first 512 characters name every tool.",
    ),
    "mcp.journeys.discover": Promise(
        source="design: two channels",
        says="Under every rule of what clients show, the index names every stream and connection.",
    ),
    "mcp.journeys.search-to-end": Promise(
        source="design: two channels",
        says="Under every rule of what clients show, a search opens at its match and its windows lead to the end.",
    ),
    "mcp.journeys.fetch-to-end": Promise(
        source="design: two channels",
        says="Under every rule of what clients show, a document that was cut says how its text goes on.",
    ),
    "mcp.journeys.count": Promise(
        source="design: two channels",
        says="Under every rule of what clients show, counts and groups add up over all connections.",
    ),
    "mcp.journeys.page": Promise(
        source="design: two channels",
        says="Under every rule of what clients show, paging reaches every record and every hit, and none twice.",
        ruling=(31,),
    ),
    "mcp.journeys.refusals": Promise(
        source="design: two channels",
        says="Under every rule of what clients show, a refusal of a wrong id, field, stream or cursor says what to do.",
    ),
    "mcp.journeys.cut": Promise(
        source="design: two channels",
        says="The next call is the first member of a structured answer, so that a client which cuts it still shows it.",
    ),
    "mcp.journeys.changes": Promise(
        source="design: two channels",
        says="Under every rule of what clients show, a bookmark leads to what changed since, deletions included.",
    ),
    # budgets
    "mcp.budget.tools-list": Promise(
        source="design: numbers",
        says="The list of tools has at most 10,000 bytes.",
        scenario=("S075", "S102"),
    ),
    "mcp.budget.instructions": Promise(
        source="design: numbers",
        says="The instructions have at most 1,400 bytes.",
    ),
    "mcp.budget.text": Promise(
        source="design: numbers",
        says="The text of each tool keeps its budget over hostile data, and search and query_records keep 3,600 bytes.",
        scenario=("S044",),
    ),
    "mcp.budget.few-words": Promise(
        source="MCP adapter contract: budgets",
        says="Ten hits of a few words in two accounts, each with its whole id, take at most 1,800 bytes of text.",
        scenario=("S075",),
        ruling=(53,),
        diverges="Longer texts may take 3,600: of the evidence in long conversations a reader then sees 0.7 instead of "
        "0.05.",
    ),
    "mcp.search.default-page": Promise(
        source="design: evidence is dense",
        says="A search without a limit shows seven matches at the most, and texts of up to 400 characters whole.",
    ),
    "mcp.budget.structured": Promise(
        source="design: numbers",
        says="The structured content of each tool keeps its budget over hostile data, after escaping.",
    ),
    "mcp.budget.refusal": Promise(
        source="design: numbers",
        says="Any refusal keeps 2,000 bytes of text and 4,000 of structured content.",
    ),
    "mcp.budget.one-whole-item": Promise(
        source="design: numbers",
        says="However small the budget, at least one whole item is shown.",
    ),
    # schema
    "mcp.schema.index": Promise(
        source="MCP adapter contract: schema tool",
        says="Without a stream it gives a short index whose text names every granted stream, also beyond the rows.",
        scenario=("S104",),
    ),
    "mcp.schema.only-stream": Promise(
        source="evidence per byte",
        says="Where one stream is granted, the index tells its fields at once.",
    ),
    "mcp.schema.compact-kept": Promise(
        source="MCP adapter contract: schema tool",
        says="With a stream the compact schema of the server is in the structured data unchanged.",
        scenario=("S019",),
        ruling=(39,),
        diverges="Without a stream the data is an index of connections and streams; amounts of connections have names.",
    ),
    "mcp.schema.shared-name": Promise(
        source="MCP adapter contract: schema tool",
        says="A stream name of several sources shows fields and aggregations of every matching row in the text.",
        scenario=("S105",),
    ),
    "mcp.schema.one-connection": Promise(
        source="MCP adapter contract: schema tool",
        says="`stream` and `connection_id` give that one row with the handles needed next.",
        scenario=("S106",),
    ),
    "mcp.schema.legend": Promise(
        source="MCP adapter contract: schema tool",
        says="Where flags are shown, a visible legend explains them.",
        scenario=("S107",),
    ),
    "mcp.schema.always-returned": Promise(
        source="MCP adapter contract: schema tool",
        says="The text of one stream names the fields that are always returned.",
        ruling=(30,),
    ),
    "mcp.schema.usable-only": Promise(
        source="design: narrowing works",
        says="The text of a stream offers to sort by and to expand only what the grant lets one use.",
    ),
    "mcp.schema.full-needs-stream": Promise(
        source="MCP adapter contract: schema tool",
        says="`detail=full` without a stream is refused with advice.",
        scenario=("S108",),
    ),
    "mcp.schema.full-ambiguous": Promise(
        source="MCP adapter contract: schema tool",
        says="`detail=full` for a shared stream is refused with the connections to choose from, before any content.",
        scenario=("S109",),
    ),
    "mcp.schema.full-one-source": Promise(
        source="MCP adapter contract: schema tool",
        says="`detail=full` with stream and connection gives exactly one source's document directly under data, "
        "bounded.",
        scenario=("S021", "S110"),
    ),
    "mcp.schema.asks-compact": Promise(
        source="MCP adapter contract: schema tool",
        says="From another server it asks for the compact view, with the stream if one was given.",
        scenario=("S018",),
    ),
    "mcp.schema.foreign-fallback": Promise(
        source="MCP adapter contract: schema tool",
        says="Where another server knows no compact view, the same compact schema is made here.",
        scenario=("S020",),
    ),
    # search
    "mcp.search.query-argument": Promise(
        source="MCP adapter contract: search",
        says="The words are given as `query`, `q` is taken as its old name, and two different values are refused.",
        ruling=(3,),
    ),
    "mcp.search.modes": Promise(
        source="MCP adapter contract: search",
        says="`mode` is auto unless told, and a mode that the server lacks is `unsupported_mode` with the ones it has.",
        ruling=(4,),
    ),
    "mcp.search.semantic-modes": Promise(
        source="MCP adapter contract: search",
        says="With a model semantic and hybrid are served, and auto takes the best of them.",
        ruling=(4,),
    ),
    "mcp.search.results": Promise(
        source="MCP adapter contract: search",
        says="`results` has for each hit a stable id, a readable title, a url and the `connection_id`, in the order "
        "of the data.",
        scenario=("S022",),
        ruling=(6,),
    ),
    "mcp.search.lean-envelope": Promise(
        source="ruling 46",
        says="The structured data is the server's lean answer: each text once, with the offsets of its marks, and no "
        "empty member.",
        ruling=(46,),
    ),
    "mcp.search.one-line": Promise(
        source="evidence per byte",
        says="A hit stands on one line with its handle, source, own time and weekday, actor, amount, title and text, "
        "whole where it is short; later hits get less, and how much is missing is said.",
        ruling=(32, 43, 53),
    ),
    "mcp.search.alike": Promise(
        source="evidence per byte",
        says="In the text, hits whose words are the same but for numbers stand under the first of them: each with its "
        "handle, source, time, actor, amount and title, and then `as above`, with each number in which it differs from "
        "what is shown there, and for which.",
    ),
    "mcp.search.exchange": Promise(
        source="evidence per byte",
        says="A hit that came by its neighbours stands in the order of the talk beside the hit that lifted it, is "
        "counted apart and takes no place of a match; nor is a page turned for such hits alone.",
        ruling=(36,),
    ),
    "mcp.search.ends-early": Promise(
        source="evidence per byte",
        says="A page of no particular limit ends where hits are much weaker than its first; a limit is kept.",
    ),
    "mcp.query.said-once": Promise(
        source="design: two channels",
        says="The text of a page says once what all its records share, and does not repeat what a handle tells.",
    ),
    "mcp.schema.explained": Promise(
        source="evidence per byte",
        says="The schema of a stream tells what its publisher says of it and of granted fields with ranges.",
    ),
    "mcp.search.next-step": Promise(
        source="design: two channels",
        says="The next step of a search reads on where a good hit is cut, else shows what was said around the best "
        "one, and offers nothing that the server refuses.",
    ),
    "mcp.search.teaches": Promise(
        source="evidence per byte",
        says="A word that matched nothing is named, with one that somebody wrote and that is almost the same; a word "
        "that drowns another is counted, and a name that is a sender's offers the filter on it.",
    ),
    "mcp.search.envelope": Promise(
        source="MCP adapter contract: search",
        says="The structured data is the list envelope of the server with its hits, and results repeats nothing of it.",
        scenario=("S024",),
        ruling=(6, 39),
        diverges="The envelope is whole except where it must fit: cut values and shortened pages are marked, and "
        "`list_streams` and `fetch_blob` are no tools.",
    ),
    "mcp.search.structured-evidence": Promise(
        source="MCP adapter contract: search",
        says="A proven hit carries its excerpt with offsets in the data, and one `read_with` template says how to go "
        "on.",
        scenario=("S079",),
        ruling=(6, 39),
        diverges="There is no `content_ladder` object: next, `read_with` and the offsets do its work.",
    ),
    "mcp.search.top-hits": Promise(
        source="MCP adapter contract: search",
        says="The text previews the first hits with handle, stream, label, connector key, title and snippet.",
        scenario=("S041",),
    ),
    "mcp.search.connection-once": Promise(
        source="MCP adapter contract: search",
        says="A line of the text names its connection once, inside the handle.",
        scenario=("S042",),
    ),
    "mcp.search.pass-as-is": Promise(
        source="MCP adapter contract: search",
        says="The text says to pass a handle as it stands.",
        scenario=("S043",),
    ),
    "mcp.search.self-contained-ids": Promise(
        source="MCP adapter contract: search",
        says="Hits of several connections have handles with their connection, the same in text and results.",
        scenario=("S056",),
    ),
    "mcp.search.first-fetch-id": Promise(
        source="MCP adapter contract: search",
        says="`first_fetch_id` stands before the mix of sources and is the id of the first result.",
        scenario=("S062",),
    ),
    "mcp.search.first-line-enough": Promise(
        source="MCP adapter contract: search",
        says="If only the first line of the text survives, its handle can be fetched.",
        scenario=("S064",),
    ),
    "mcp.search.no-hits": Promise(
        source="MCP adapter contract: search",
        says="Without hits there is no `first_fetch_id`, results is empty, and the text says what to try.",
        scenario=("S063",),
    ),
    "mcp.search.next-cursor": Promise(
        source="MCP adapter contract: search",
        says="The text has the next cursor, and passing it gives the following hits.",
        scenario=("S112",),
    ),
    "mcp.search.source-mix": Promise(
        source="MCP adapter contract: search",
        says="A search over several connections gives at most limit hits with their sources, and the mix in the text.",
        scenario=("S113",),
    ),
    "mcp.search.connection-scope": Promise(
        source="MCP adapter contract: search",
        says="With a `connection_id` the limit counts hits of that connection only.",
        scenario=("S116",),
    ),
    "mcp.search.excerpts-first": Promise(
        source="MCP adapter contract: search",
        says="The line of a hit proves it: handle, field with offset, snippet; no bare list of results comes before, "
        "and the read that goes on is printed.",
        scenario=("S078", "S087"),
    ),
    "mcp.search.opens-at-match": Promise(
        source="design: evidence is proven",
        says="The read printed beside an excerpt shows the match itself.",
        scenario=("S078",),
        ruling=(9,),
    ),
    "mcp.search.metadata-only": Promise(
        source="MCP adapter contract: search",
        says="A hit without a proven place says so and still names a read that opens it.",
        scenario=("S080", "S095"),
    ),
    "mcp.search.balanced-marks": Promise(
        source="MCP adapter contract: search",
        says="Highlight marks in the text are balanced or absent.",
        scenario=("S114",),
    ),
    "mcp.search.recall": Promise(
        source="MCP adapter contract: search",
        says="The text warns with numbers if not all matches were ranked, is silent if they were, and invents nothing.",
        scenario=("S140",),
    ),
    "mcp.search.foreign-record-uri": Promise(
        source="MCP adapter contract: search",
        says="A record address given by another server is shown as the handle it means.",
        scenario=("S088",),
    ),
    "mcp.search.foreign-ids": Promise(
        source="MCP adapter contract: search",
        says="An id of another server that holds a slash already is passed on unchanged.",
        scenario=("S076",),
    ),
    # fetch
    "mcp.fetch.document": Promise(
        source="MCP adapter contract: fetch",
        says="A fetched id gives one document with id, title, text, url and metadata.",
        scenario=("S023",),
    ),
    "mcp.fetch.document-only": Promise(
        source="MCP adapter contract: fetch",
        says="The structured content has the five document fields only, and the text is their JSON.",
        scenario=("S045", "S117"),
        ruling=(24,),
    ),
    "mcp.fetch.nested-data": Promise(
        source="MCP adapter contract: fetch",
        says="Title, text and url come from the fields of the record, and text is never a mere pointer.",
        scenario=("S046",),
    ),
    "mcp.fetch.text-bounded": Promise(
        source="MCP adapter contract: fetch",
        says="`text` has at most 12,000 bytes, and a cut ends with the `read_record_field` call that goes on.",
        ruling=(8,),
    ),
    "mcp.fetch.text-complete": Promise(
        source="MCP adapter contract: fetch",
        says="`metadata` says in strings whether the text is complete and how to read on, and unshown fields are "
        "named.",
        ruling=(8,),
    ),
    "mcp.fetch.fields": Promise(
        source="MCP adapter contract: fetch",
        says="With fields, other payload fields appear nowhere, and the identity stays in metadata.",
        scenario=("S118",),
        ruling=(30,),
    ),
    "mcp.fetch.small-inline": Promise(
        source="MCP adapter contract: fetch",
        says="A small document is inline and whole, without a resource link or a record address.",
        scenario=("S086",),
    ),
    "mcp.fetch.handle-alone": Promise(
        source="MCP adapter contract: fetch",
        says="A handle taken from the text of a search is fetched with nothing else, on an ambiguous grant too.",
        scenario=("S057", "S071"),
    ),
    "mcp.fetch.every-key": Promise(
        source="design: one handle",
        says="Records with compound keys, paths, addresses or emoji as keys are fetched by the handle search printed.",
        ruling=(5,),
    ),
    "mcp.fetch.legacy-id": Promise(
        source="MCP adapter contract: fetch",
        says="A short id works with a `connection_id`, and alone gives `ambiguous_connection` where several hold it.",
        scenario=("S058", "S072"),
    ),
    "mcp.fetch.conflicting-connection": Promise(
        source="MCP adapter contract: fetch",
        says="A `connection_id` that differs from the handle's is `conflicting_connection_id`, before any read.",
        scenario=("S059", "S067"),
        ruling=(37,),
    ),
    "mcp.fetch.matching-connection": Promise(
        source="MCP adapter contract: fetch",
        says="A `connection_id` that equals the handle's is accepted.",
        scenario=("S073",),
    ),
    "mcp.fetch.malformed-id": Promise(
        source="MCP adapter contract: fetch",
        says="An id with empty, extra or dot segments is `invalid_record_id`, before any read.",
        scenario=("S060",),
        ruling=(5, 37),
    ),
    "mcp.fetch.record-uri": Promise(
        source="MCP adapter contract: resources and handles",
        says="`fetch` and `read_record_field` take a pdpp://record address as the record it names.",
        scenario=("S089",),
    ),
    # read_record_field
    "mcp.field.inline": Promise(
        source="MCP adapter contract: read_record_field",
        says="A small granted field is inline with whether it is complete, and no file or resource link.",
        scenario=("S083", "S084"),
    ),
    "mcp.field.continuation": Promise(
        source="MCP adapter contract: read_record_field",
        says="An incomplete window says its place, its total and the calls before and after it.",
        scenario=("S083",),
    ),
    "mcp.field.cursor-is-offset": Promise(
        source="MCP adapter contract: read_record_field",
        says="The cursor of a window is its plain offset in code points.",
        ruling=(9, 18),
    ),
    "mcp.field.selector-refused": Promise(
        source="MCP adapter contract: read_record_field",
        says="Two of `cursor`, `offset_chars` and `q`, or an id beside its parts, is `invalid_field_window_selector`, "
        "before any read.",
        scenario=("S129",),
        ruling=(37,),
    ),
    "mcp.field.window-from-server": Promise(
        source="MCP adapter contract: read_record_field",
        says="The window is cut by the server under the grant, and the adapter never holds the whole body.",
        scenario=("S131",),
    ),
    "mcp.field.json": Promise(
        source="MCP adapter contract: read_record_field",
        says="A long object or array is read in windows of its canonical JSON.",
        ruling=(34,),
    ),
    # query_records and aggregate
    "mcp.query.arguments": Promise(
        source="MCP adapter contract: query_records",
        says="Every supported argument reaches the read unchanged, and none widens the scope.",
        scenario=("S006",),
        diverges="There is no `order` beside `sort`: a minus before the field says the direction, so that no two "
        "arguments can contradict each other. REST takes both.",
    ),
    "mcp.query.handles-in-text": Promise(
        source="MCP adapter contract: query_records",
        says="Cursor, bookmark and counts are in the text.",
        scenario=("S111",),
    ),
    "mcp.query.fair-text": Promise(
        source="design: two channels, each enough alone",
        says="However long the ids of a page are, every line of its text has a piece of title and body.",
    ),
    "mcp.query.canonical-ids": Promise(
        source="MCP adapter contract: query_records",
        says="The records of `query_records` and aggregate keep the ids of the resource server.",
        scenario=("S077",),
    ),
    "mcp.query.projection": Promise(
        source="MCP adapter contract: query_records",
        says="With fields each payload has the requested fields, the primary key and nothing else.",
        scenario=("S119",),
        ruling=(30,),
    ),
    "mcp.query.asked-fields": Promise(
        source="design D3",
        says="Of fields that the caller named, a text shows fewer records with all of them rather than more with some.",
    ),
    "mcp.query.nothing-shown-again": Promise(
        source="design D3",
        says="The next step of a page opens a record only where not all of it is shown, or no other step is left.",
    ),
    "mcp.query.fitted-envelope": Promise(
        source="MCP adapter contract: query_records",
        says="The data is the list envelope made to fit: clipped values listed, and a shorter page with a right "
        "cursor.",
        ruling=(29, 35),
    ),
    "mcp.around.talk": Promise(
        source="decisions: around",
        says="`around` takes an id as it was printed and shows that record among its neighbours as they were said, "
        "oldest first, with a cursor each way in both channels; what they share is said once.",
        ruling=(44,),
    ),
    "mcp.around.nearest": Promise(
        source="decisions: around",
        says="Where a channel has no room for all, it shows the nearest, and its cursors go on from those.",
        ruling=(44,),
    ),
    "mcp.around.refused": Promise(
        source="decisions: around",
        says="An id of another stream is `invalid_record_id`, another connection beside it "
        "`conflicting_connection_id`, and what a fetch refuses is refused in the same way.",
        ruling=(44,),
    ),
    "mcp.filters.advertised": Promise(
        source="MCP adapter contract: query_records",
        says="Filters are listed as an object of scalars or ranges, with no string form.",
        scenario=("S028",),
    ),
    "mcp.filters.encoded": Promise(
        source="MCP adapter contract: query_records",
        says="A scalar becomes `filter[field]`, a range `filter[field][op]` with gte, gt, lte or lt, in aggregate too.",
        scenario=("S029", "S030", "S033"),
    ),
    "mcp.filters.refused": Promise(
        source="MCP adapter contract: query_records",
        says="A string, a list or another operator is `invalid_filter`, before any read.",
        scenario=("S031", "S033"),
        ruling=(37,),
    ),
    "mcp.filters.empty": Promise(
        source="MCP adapter contract: query_records",
        says="A filter without conditions is none; a key that is empty or has brackets is `invalid_filter`.",
        scenario=("S032",),
        ruling=(48,),
        diverges="An empty object is no error: models send it where they mean no filter at all.",
    ),
    "mcp.expand.encoded": Promise(
        source="MCP adapter contract: query_records",
        says="`expand_limit` becomes `expand_limit[relation]` in `query_records` and fetch, never a JSON text.",
        scenario=("S034", "S035"),
    ),
    "mcp.expand.refused": Promise(
        source="MCP adapter contract: query_records",
        says="An `expand_limit` without limits is none; a bracketed one is `invalid_expand`, before any read.",
        scenario=("S036",),
        ruling=(48,),
        diverges="An empty object is no error: models send it where they mean no limit at all.",
    ),
    "mcp.expand.unadvertised": Promise(
        source="MCP adapter contract: query_records",
        says="Expanding a stream without relations is `invalid_expand` with its name, by the schema of this moment.",
        scenario=("S128",),
    ),
    "mcp.aggregate.number": Promise(
        source="MCP adapter contract: aggregate",
        says="An ungrouped answer shows metric, stream and number in the text.",
        scenario=("S037",),
    ),
    "mcp.aggregate.currency": Promise(
        source="decision page 0032",
        says="A sum of amounts says what they are counted in, and that it goes across several currencies if it does.",
    ),
    "mcp.aggregate.groups": Promise(
        source="MCP adapter contract: aggregate",
        says="A grouped answer shows the dimension and bounded keys with counts, and all groups in the data.",
        scenario=("S038",),
    ),
    "mcp.aggregate.other-count": Promise(
        source="MCP adapter contract: aggregate",
        says="The description explains `other_count`, and the text shows it beside the groups.",
        scenario=("S039", "S040"),
    ),
    # resources
    "mcp.resources.field-window": Promise(
        source="MCP adapter contract: resources and handles",
        says="A field window read as a resource is under the same grant and is the text of the tool.",
        scenario=("S082", "S094"),
    ),
    "mcp.resources.not-needed": Promise(
        source="MCP adapter contract: resources and handles",
        says="If a resource read fails, the visible tool arguments still reach the evidence.",
        scenario=("S093",),
    ),
    "mcp.resources.record": Promise(
        source="MCP adapter contract: resources and handles",
        says="Reading a pdpp://record address as a resource gives that record.",
        scenario=("S089",),
    ),
    "mcp.resources.stream": Promise(
        source="MCP adapter contract: resources and handles",
        says="Reading a pdpp://stream address gives the text of `schema` with that stream.",
    ),
    "mcp.resources.one-path": Promise(
        source="design: no log line, no record",
        says="A resource is read by the call of its tool: the same grant, the same budget, the same line in the log.",
    ),
    "mcp.resources.refused": Promise(
        source="MCP: resources",
        says="A resource that is not there is -32602 in the later era and -32002 before, with the refusal in its data.",
    ),
    "mcp.resources.advertised": Promise(
        source="MCP: resources",
        says="Templates and the completion of their arguments are advertised at every door; no resource is listed.",
    ),
    "mcp.completion.granted-names": Promise(
        source="MCP: completion",
        says="Arguments of a template are completed by what the grant shows and no more, at most 100 at once.",
    ),
    # hosted endpoint
    "mcp.hosted.initialize": Promise(
        source="MCP adapter contract: server",
        says="A remote client with a client token initializes at /mcp with no local process.",
        scenario=("S013",),
    ),
    "mcp.hosted.same-surface": Promise(
        source="MCP adapter contract: server",
        says="The tools over stdio and at /mcp are the same.",
        scenario=("S014", "S097"),
    ),
    "mcp.hosted.challenge": Promise(
        source="authorization contract: hosted MCP",
        says="Without a bearer /mcp answers 401 with the metadata address for MCP in the challenge and in the body.",
        scenario=("S015", "S054"),
    ),
    "mcp.hosted.owner-refused": Promise(
        source="authorization contract: hosted MCP",
        says="An owner bearer at /mcp is refused, and nothing is read with it.",
        scenario=("S016", "S101"),
    ),
    "mcp.hosted.same-door": Promise(
        source="authorization contract: hosted MCP",
        says="A tool call at /mcp reads with the caller's bearer and returns no more than /v1 does.",
        scenario=("S017",),
    ),
    "mcp.hosted.each-request": Promise(
        source="authorization contract: hosted MCP",
        says="A token is asked of the store with each request: that of a revoked grant is 403, one that expired 401.",
        ruling=(13,),
    ),
    "mcp.hosted.request-id": Promise(
        source="ruling 24",
        says="The Request-Id of an answer stands in the tool's result and in the line of the disclosure log.",
        ruling=(24,),
    ),
    "mcp.hosted.trouble": Promise(
        source="MCP transports: Streamable HTTP",
        says="What a database or a log that cannot be used keeps from being read is a fault at /mcp that says why and "
        "has the request id, with Retry-After, and 503 in the later era; no client loses its session by it. In a batch "
        "it is the fault alone. A token that asks too often is told so in the same way, with 429 in the later era.",
    ),
    "mcp.hosted.origin": Promise(
        source="MCP transports: security",
        says="A page of an origin that this server is not known by is answered 403, whatever else it sends.",
    ),
    "mcp.hosted.messages": Promise(
        source="MCP transports: Streamable HTTP",
        says="A message is posted as JSON of bounded size and answered in JSON; a notification is 202 with no body.",
    ),
    "mcp.hosted.versions": Promise(
        source="MCP transports: Streamable HTTP",
        says="The version header chooses the era; what headers and body say differently, or no era speaks, is 400.",
    ),
    "mcp.hosted.observed": Promise(
        source="MCP adapter contract: server",
        says="A call at /mcp is metered, counted and logged by the name of its tool and the code it ended with.",
    ),
    "mcp.hosted.goes-on": Promise(
        source="MCP adapter contract: server",
        says="A client that hangs up, or a bug behind one call, leaves the server answering the others.",
    ),
    "mcp.hosted.icons": Promise(
        source="authorization contract: hosted MCP",
        says="The server's info and the 401 answer name the same public icon.",
        scenario=("S051", "S052"),
    ),
    "mcp.hosted.methods": Promise(
        source="authorization contract: hosted MCP",
        says="GET and DELETE at /mcp are 401 without a token, then 405.",
        ruling=(38,),
    ),
    "mcp.hosted.device-token": Promise(
        source="authorization contract: device flow",
        says="A client token of the device flow works at /mcp, and an owner's device token is refused.",
        scenario=("S139",),
    ),
    # clients of other makers
    "mcp.clients.programs": Promise(
        source="clients: OAuth as clients do it",
        says="Claude Code, Codex, mcp-remote, the Inspector and both Python and TypeScript SDKs sign in without the "
        "internet, list, call, stay beyond an hour, and after a revocation sign in again; a page says with which "
        "versions.",
    ),
    "mcp.clients.typescript": Promise(
        source="design: two protocol eras",
        says="The TypeScript clients 1.x and 2.x use all six tools over stdio and HTTP, in both eras.",
    ),
    "mcp.clients.oauth": Promise(
        source="how clients do OAuth",
        says="Clients of other makers get by their own OAuth from a bare address to an answer, stay by refreshing, "
        "and ask again when the owner ended it.",
    ),
    "mcp.clients.faults": Promise(
        source="design: errors",
        says="In other makers' clients a refusal is an answer, an unknown tool a fault, and both leave them connected.",
    ),
    "mcp.clients.resources": Promise(
        source="MCP: resources",
        says="Other makers' clients read a record by its address, and complete the arguments of a template.",
    ),
    "mcp.clients.no-stream": Promise(
        source="MCP transports: Streamable HTTP",
        says="A client that asks for a stream of events is answered 405 and goes on without one.",
    ),
    "mcp.clients.inspector": Promise(
        source="design: two protocol eras",
        says="The MCP Inspector lists, searches, fetches and finds nothing in our schemas that other clients refuse.",
    ),
    "mcp.clients.conformance": Promise(
        source="design: two protocol eras",
        says="The conformance suite finds what fits a server with its own tools in order, or a reason is written down.",
    ),
    "mcp.clients.pinned": Promise(
        source="design: dependencies",
        says="Every package of other makers is pinned by version and digest, and no address is written down.",
    ),
    # packages
    "mcp.packages.search-merged": Promise(
        source="MCP adapter contract: hosted package",
        says="A search over a package merges by rank under one limit and one cursor, each hit with its source.",
        scenario=("S047",),
        ruling=(12,),
    ),
    "mcp.packages.streams-routed": Promise(
        source="MCP adapter contract: hosted package",
        says="A child is asked only for streams of its grant, and not at all if it has none of them.",
        scenario=("S048", "S049"),
    ),
    "mcp.packages.connection-routed": Promise(
        source="MCP adapter contract: hosted package",
        says="With a `connection_id` exactly that child is asked.",
        scenario=("S050",),
    ),
    "mcp.packages.partial": Promise(
        source="MCP adapter contract: hosted package",
        says="A source that is gone makes the answers of `schema`, `search`, `query_records` and `aggregate` partial, "
        "and each names it.",
        ruling=(12,),
        diverges="No child is late on its own: all are read in one store, under one deadline and one ranking, whose "
        "cursor would not go on after a page that left one out. A read that takes too long is query_timeout.",
    ),
    "mcp.packages.ambiguous": Promise(
        source="MCP adapter contract: hosted package",
        says="A read that needs a source is `ambiguous_connection` with the candidates, without asking a child.",
        scenario=("S120",),
        ruling=(12, 33),
    ),
    "mcp.packages.unusable-child": Promise(
        source="MCP adapter contract: hosted package",
        says="A child whose grant ended is not offered, and its error says to approve again or choose another.",
        scenario=("S011",),
    ),
    "mcp.packages.one-child": Promise(
        source="MCP adapter contract: hosted package",
        says="A package with one child answers as that grant does.",
        ruling=(33,),
    ),
    "mcp.hosted.package-headers": Promise(
        source="authorization contract: hosted /mcp",
        says="Answers to a package say in headers which one it is and how many of its grants are alive.",
    ),
}
