"""What shaped text promises: handles, clipping, escaping, titles, times, budgets."""

from tests.requirements.promise import Promise

PROMISES: dict[str, Promise] = {
    # handles
    "ev.handles.grammar": Promise(
        source="design: one handle",
        says="A handle splits at its first slash into the connection, then at its first colon into stream and key.",
        scenario=("S066",),
        ruling=(5,),
    ),
    "ev.handles.round-trip": Promise(
        source="design: one handle",
        says="Every connection, stream and key, whatever its characters, comes back from its handle unchanged.",
        ruling=(5,),
    ),
    "ev.handles.one-token": Promise(
        source="design: one handle",
        says="A handle holds no whitespace, quote, bracket, control, format or separator character.",
        ruling=(5,),
    ),
    "ev.handles.embeds-connection": Promise(
        source="MCP adapter contract: search",
        says="A record with a connection has that connection in its handle.",
        scenario=("S065",),
    ),
    "ev.handles.any-connection-name": Promise(
        source="MCP adapter contract: search",
        says="A connection named with a slash or colon gets a handle too, with these characters encoded.",
        scenario=("S061",),
        ruling=(5, 39),
        diverges="Such a connection id is percent-encoded and wrapped, not left out of the handle; a hit that is no "
        "record has no handle.",
    ),
    "ev.handles.without-connection": Promise(
        source="MCP adapter contract: search",
        says="A record without a known connection keeps the short handle `stream:record_id`.",
        scenario=("S074",),
    ),
    "ev.handles.legacy-verbatim": Promise(
        source="design: one handle",
        says="A short handle is never decoded: percent signs and later colons belong to the key.",
    ),
    "ev.handles.canonical-only": Promise(
        source="design: one handle",
        says="A handle that would be minted differently is refused as `invalid_record_id`.",
        ruling=(5,),
    ),
    "ev.handles.malformed": Promise(
        source="design: one handle",
        says="Empty segments, extra separators and dot components, also encoded ones, are `invalid_record_id`.",
        ruling=(5,),
    ),
    "ev.handles.bounded": Promise(
        source="design: one handle",
        says="No handle is longer than 512 bytes.",
    ),
    "ev.handles.never-cut": Promise(
        source="MCP adapter contract: search",
        says="A text shows a handle whole or not at all.",
        scenario=("S068",),
        ruling=(39,),
        diverges="A handle is shown whole up to its 512 bytes instead of being cut at 200 characters.",
    ),
    "ev.handles.record-uri": Promise(
        source="MCP adapter contract: resources and handles",
        says="A pdpp://record address, in either of its forms, names the same record as its handle.",
        scenario=("S089",),
    ),
    # clipping
    "ev.clip.marked": Promise(
        source="design: two channels",
        says="Text that was cut says so, and text that was not cut does not.",
        scenario=("S135",),
    ),
    "ev.clip.within-limit": Promise(
        source="design: two channels",
        says="Clipped text is never longer than its limit, mark included.",
    ),
    "ev.clip.whole-characters": Promise(
        source="design: two channels",
        says="A cut never splits a code point, and byte limits hold for any script.",
        ruling=(9,),
    ),
    "ev.clip.continues": Promise(
        source="MCP adapter contract: fetch",
        says="Beside every cut stands the exact call that reads on from there.",
        scenario=("S132", "S135"),
    ),
    "ev.clip.listed": Promise(
        source="design: two channels",
        says="`meta.clipped` names for each record the clipped fields with their lengths and one call template.",
        ruling=(35,),
    ),
    "ev.preview.bounded": Promise(
        source="MCP adapter contract: shared evidence",
        says="A preview of a record with large text fields stays within its budget and names what it left out.",
        scenario=("S092",),
    ),
    "ev.binary.metadata-only": Promise(
        source="MCP adapter contract: shared evidence",
        says="Bytes in a record, declared so or seen to be base64, are told by kind and size in both channels of every "
        "tool; a blob with the read that gets it.",
        scenario=("S092", "S135"),
        ruling=(27, 42),
    ),
    "ev.binary.not-text": Promise(
        source="design: two channels",
        says="`read_record_field` refuses bytes as `field_not_text`, and REST gives them whole.",
        ruling=(42,),
    ),
    # escaping
    "ev.escape.no-forged-lines": Promise(
        source="design: untrusted content stays content",
        says="No text of a record can start a line, or look like a handle, cursor, field or instruction of ours.",
    ),
    "ev.escape.end-mark": Promise(
        source="design: untrusted content stays content",
        says="The text of a window ends with a mark that its header names and that the text does not hold.",
    ),
    "ev.escape.invisible-characters": Promise(
        source="design: untrusted content stays content",
        says="Control, bidirectional and zero-width characters in shown text are visible as escapes.",
    ),
    "ev.escape.both-channels": Promise(
        source="design: untrusted content stays content",
        says="Titles, snippets and labels are escaped in both channels, and data payloads are verbatim JSON.",
    ),
    "ev.escape.messages-without-content": Promise(
        source="design: untrusted content stays content",
        says="Descriptions, instructions and error messages never hold text of a record.",
    ),
    "ev.injection.tools": Promise(
        source="design: untrusted content stays content",
        says="Whatever strangers wrote, in any place of a record, stands in no answer of a tool outside of quotes.",
    ),
    "ev.injection.nothing-hidden": Promise(
        source="design: untrusted content stays content",
        says="What was escaped can still be read: a quoted value decodes to exactly what was written.",
    ),
    "ev.injection.refusals": Promise(
        source="design: untrusted content stays content",
        says="An argument that was copied from a record adds no line to the refusal that repeats it.",
    ),
    "ev.injection.terminal": Promise(
        source="design: untrusted content stays content",
        says="No verb prints a control, bidirectional or zero-width character of a record, not even as JSON.",
    ),
    "ev.budgets.hostile-worlds": Promise(
        source="design: numbers",
        says="Every tool keeps its bytes in both channels over worlds made to break them, and shows a whole item.",
    ),
    # titles, times, addresses
    "ev.titles.declared-role": Promise(
        source="design: evidence is proven",
        says="The title of a record is its field with the role primary-title.",
        ruling=(28,),
    ),
    "ev.titles.fallback": Promise(
        source="MCP adapter contract: search",
        says="Without a title a record is named by label, stream and time, and never by its snippet.",
        scenario=("S115",),
        ruling=(28,),
    ),
    "ev.titles.no-name-guessing": Promise(
        source="design: evidence is proven",
        says="Renaming every field, stream and connector of a declaration changes no choice of title, body or time.",
        scenario=("S138",),
        ruling=(28,),
    ),
    "ev.titles.foreign-hit": Promise(
        source="design: evidence is proven",
        says="A hit of a foreign server without roles uses its own title, `authored_at` or `sent_at` and no other "
        "name.",
        ruling=(28,),
    ),
    "ev.titles.projected": Promise(
        source="design: evidence is proven",
        says="Under a projection title, time and address use projected fields only, else label, stream and no time.",
        ruling=(30, 43),
    ),
    "ev.bodies.undeclared": Promise(
        source="design: evidence is proven",
        says="Where no body is declared, all granted fields are shown as name and value.",
    ),
    "ev.time.order": Promise(
        source="design: evidence is proven",
        says="A time is the granted event-time, else `consent_time_field`, else a date `cursor_field`, else none.",
        ruling=(32, 43),
    ),
    "ev.time.whole-days": Promise(
        source="design: evidence is proven",
        says="A record that holds a granted day of the role `event-day` is shown by that day in every answer; where "
        "that is hidden or missing, by its time.",
        ruling=(32, 54),
    ),
    "ev.time.never-stored": Promise(
        source="design: evidence is proven",
        says="When a record was stored never stands where its own time stands: it is shown as `stored_at`, or not at "
        "all.",
        ruling=(43,),
    ),
    "ev.url.absolute": Promise(
        source="MCP adapter contract: search",
        says="A url is an absolute http address of the owner's pages, or empty where no address is known.",
        scenario=("S069",),
        ruling=(7, 39),
        diverges="The address opens the record in the owner's pages and carries no `connection_id` parameter; it is "
        "never relative and never a pdpp:// address.",
    ),
    # excerpts and windows
    "ev.excerpts.context": Promise(
        source="MCP adapter contract: search",
        says="An excerpt of a match inside a text shows the words around it.",
        scenario=("S133",),
    ),
    "ev.excerpts.proven-only": Promise(
        source="design: evidence is proven",
        says="A hit without a proven place shows no excerpt and says that only metadata is known.",
        scenario=("S080", "S095"),
    ),
    "ev.windows.cover": Promise(
        source="design: two channels",
        says="The windows of a text, read one after the other, are the text.",
        ruling=(9,),
    ),
}
