"""The change `complete-mcp-read-evidence-ladder`: its promises, and the situations in which each of them shows."""

from tests.requirements.promise import Case, Change

EVIDENCE_LADDER = Change(
    name="complete-mcp-read-evidence-ladder",
    why="""\
Clients differ in what they let a model see: some only the text of an answer, some only its structured content, and
some show links to resources that nothing can open. A search that finds a record is worth little where the model can
neither see what matched nor call what would show more. So every answer is a rung of a ladder: a bounded excerpt that is
proven, a window that opens at the match, the whole record, and each rung names the call that leads to the next.""",
    impact="""\
`evidence/` and `mcp/` shape and bound what is shown, `store/` and `reads/` prove what matched and cut the windows under
the grant, `port/` carries offsets from other servers. What is granted, and who decides it, does not change.""",
    by_hand=(
        "Walk through `docs/live-smoke.md` in a fresh ChatGPT session on a deployed server",
        "Walk through `docs/live-smoke.md` in Claude: web, Desktop and Code",
    ),
    cases={
        # read-evidence
        "ev.handles.record-uri": (
            Case(
                "An address and a handle of one record",
                "a pdpp://record address is read, with a plain handle or an encoded one inside",
                ("it names the same record as the handle does",),
            ),
        ),
        "ev.preview.bounded": (
            Case(
                "A record with long fields",
                "a record with text fields far longer than its share of the answer is previewed",
                ("the preview keeps its budget", "what was left out is named with the read that shows it"),
            ),
        ),
        "ev.binary.metadata-only": (
            Case(
                "A record that refers to bytes",
                "a record with a blob reference is shown",
                ("its type and size are shown with the read that gets it", "no base64 is shown"),
            ),
        ),
        "ev.excerpts.proven-only": (
            Case(
                "Nobody proved where it matched",
                "a hit comes without a proven field and offset",
                ("no excerpt is shown for it", "the text says that only metadata is known"),
            ),
        ),
        "ev.titles.no-name-guessing": (
            Case(
                "Names that suggest a role",
                "every field, stream and connector of a declaration is given another name",
                ("the same values are chosen as title, body and time",),
            ),
        ),
        # resource-server
        "rs.search.proven-evidence": (
            Case(
                "A word in a granted text field",
                "a search finds a word in a field that the grant shows",
                (
                    "the hit names the record and the field, and carries the words around the match",
                    "it says whether the field goes on, and which read continues",
                ),
            ),
        ),
        "rs.search.evidence-offset": (
            Case(
                "A match deep inside a long field",
                "the read beside an excerpt is made as it stands",
                ("the window begins where the excerpt said, counted in code points",),
            ),
        ),
        "rs.search.no-evidence-unproven": (
            Case(
                "A match that cannot be placed",
                "a record is found, and the index cannot prove in which field",
                ("the hit has neither excerpt nor snippet, and nobody above it makes one up",),
            ),
        ),
        # mcp-adapter
        "mcp.tools.exact-six": (
            Case(
                "A bounded read is a tool of its own",
                "a client lists the tools",
                ("`read_record_field` stands beside the five others",),
            ),
        ),
        "mcp.channels.text-enough": (
            Case(
                "A client that hides structured content and resources",
                "a model sees only the text of each answer",
                ("it gets from search to the words that matched with calls that the text prints",),
            ),
        ),
        "mcp.journeys.search-to-end": (
            Case(
                "Every client that is known",
                "a model sees of each answer only what its client shows",
                ("a search leads it to the match, and from window to window to the end of the text",),
            ),
        ),
        "mcp.channels.next-step-is-a-tool": (
            Case(
                "A preview that is not the whole",
                "an answer shows a part of something, and the client can read no resources",
                ("the text names a tool with its arguments", "that call works as it is printed"),
            ),
        ),
        "mcp.channels.no-resource-uris": (
            Case(
                "Looking for an address in an answer",
                "any tool answers",
                ("neither channel holds a resource link or a pdpp:// address",),
            ),
        ),
        "mcp.search.excerpts-first": (
            Case(
                "A chat message whose body matched",
                "a search finds words in the body of a message",
                (
                    "the text shows the handle, the field with its offset, and the words around the match",
                    "no bare list of results comes before, and the read that goes on is printed",
                ),
            ),
        ),
        "mcp.search.opens-at-match": (
            Case(
                "Following the printed read",
                "the call printed beside an excerpt is made unchanged",
                ("the window that comes back holds the match",),
            ),
        ),
        "mcp.search.metadata-only": (
            Case(
                "A hit that only its metadata explains",
                "a hit has no proven place",
                ("the text says so instead of pretending a match", "a read that opens the record is printed"),
            ),
        ),
        "mcp.search.structured-evidence": (
            Case(
                "A client that shows only structured content",
                "a search finds a proven match",
                (
                    "the excerpt stands in the data with its field and offsets",
                    "one `read_with` template says how the read that continues is made",
                ),
            ),
        ),
        "mcp.search.foreign-record-uri": (
            Case(
                "Another server that gives addresses",
                "a hit of another server names its record by a pdpp://record address",
                ("the handle that the address means is shown in its place",),
            ),
        ),
        "mcp.fetch.small-inline": (
            Case(
                "A few fields of one record",
                "`fetch` is called with fields that make a small document",
                ("the document is in the answer, whole", "no link and no record address stands in for it"),
            ),
        ),
        "mcp.fetch.record-uri": (
            Case(
                "An address kept from elsewhere",
                "`fetch` or `read_record_field` is given a pdpp://record address as its id",
                ("it reads the record that the address names",),
            ),
        ),
        "mcp.field.inline": (
            Case(
                "One short text field",
                "`read_record_field` is called for it",
                ("its text is in the answer, which says that it is complete", "no file and no link is made"),
            ),
        ),
        "mcp.field.continuation": (
            Case(
                "One long text field",
                "a window shows only a part of it",
                ("its place and the total are said", "the calls for the part before and the part after are printed"),
            ),
        ),
        "mcp.resources.field-window": (
            Case(
                "The same window by both ways",
                "a client reads a pdpp://field-window address, and calls `read_record_field` for the same place",
                ("both give the same bounded text, under the same grant",),
            ),
        ),
        "mcp.resources.not-needed": (
            Case(
                "Resources that cannot be read",
                "reading a resource fails",
                ("the tool call that the text printed still reaches the evidence",),
            ),
        ),
        "mcp.resources.record": (
            Case(
                "A record as a resource",
                "a client reads a pdpp://record address as a resource",
                ("it gets that record",),
            ),
        ),
    },
)
