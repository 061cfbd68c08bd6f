"""What the owner's pages promise: who may see them, what they show, and that no other page can use them."""

from tests.requirements.promise import Promise

SIGN_IN, PAGES = "design: processes, home, commands", "design: what it is, and for whom"
CONSENT, SAFE = "authorization contract: consent", "decision 0018: pages without JavaScript"

PROMISES: dict[str, Promise] = {
    "con.sign-in.first-password": Promise(
        source=SIGN_IN,
        says="The first password is set in a terminal, or with the one-time code that the server's terminal shows.",
    ),
    "con.sign-in.first-once": Promise(
        source=SIGN_IN,
        says="However many try at once with the code, one first password is set, and only its sender is signed in.",
    ),
    "con.sign-in.sessions": Promise(
        source=SIGN_IN,
        says="Signing in begins a new session, which ends by signing out, by idleness, by age and with a new password.",
    ),
    "con.sign-in.throttled": Promise(
        source=SIGN_IN,
        says="Wrong passwords are heard ever more slowly, from one address and from all together.",
    ),
    "con.sign-in.lockout-ends": Promise(
        source=SIGN_IN,
        says="A new password ends every wait for wrong ones, and an address that signed in before waits for no "
        "strangers.",
    ),
    "con.sign-in.own-paths": Promise(
        source=SIGN_IN,
        says="After signing in, a visitor is led to a page of this server and nowhere else.",
    ),
    "con.sign-in.cookie": Promise(
        source=SAFE,
        says="The cookie is unreadable for scripts, stays on this site, and under https belongs to this host alone.",
    ),
    "con.forms.own-only": Promise(
        source=SAFE,
        says="A form without the token of its session, or from another site, changes nothing.",
    ),
    "con.pages.policy": Promise(
        source=SAFE,
        says="Pages run no script but a small one of ours where files are brought in, load nothing from elsewhere, "
        "lead forms nowhere else and cannot be framed.",
    ),
    "con.pages.escaped": Promise(
        source=SAFE,
        says="Text of records and of clients never becomes markup, and characters that cannot be seen are shown.",
    ),
    "con.clients.change": Promise(
        source=PAGES,
        says="On the page of a client the owner lets it read less or until another day and sees beforehand what that "
        "leaves; a form that is sent twice changes once.",
    ),
    "con.clients.named": Promise(
        source=PAGES,
        says="A name and a note of the owner's stand on the pages, outlive a change, and reach no client.",
    ),
    "con.clients.preview": Promise(
        source=PAGES,
        says="A page shows what a client would see if it asked now, by the same reads under the same grant.",
    ),
    "con.import.any-process": Promise(
        source="issue 16: many processes",
        says="Where several processes serve a home, files that came to one of them are shown and imported by any.",
    ),
    "con.import.whole": Promise(
        source=PAGES,
        says="Files that are chosen on a page are recognised and shown as by the command, imported when the owner says "
        "so, whether or not the page stays open, and told account by account and line by line.",
    ),
    "con.import.once": Promise(
        source=PAGES,
        says="Files that are sent twice are one upload, and an import that is asked for twice is one import.",
    ),
    "con.import.removal": Promise(
        source="ruling 52",
        says="What is in doubt to be removed stays until the owner says on the page that it may go; what was removed "
        "comes back by a button.",
    ),
    "con.import.nothing-left": Promise(
        source=PAGES,
        says="What is no export, too large, broken off or a bomb ends with a sentence, and nothing of it stays.",
    ),
    "con.pages.tutorial": Promise(
        source=PAGES,
        says="The tutorial goes through the pages too, and what it tells to click stands on them.",
    ),
    "con.pages.help": Promise(
        source=PAGES,
        says="Connection, stream, grant, package, record and client are explained in a line where they first stand.",
    ),
    "con.sources.follow": Promise(
        source=PAGES,
        says="A mailbox, calendars or contacts are followed from a page by address, user and password: tried first, "
        "kept sealed, asked at once; how each does is said, and it can be stopped. A refusal sends no password back.",
    ),
    "con.data.attachments": Promise(
        source=PAGES,
        says="Attachments stand on the page of their record: pictures are shown, all else is only handed over; what a "
        "stranger says of their type counts for pictures only, nothing of them can run, and each look is logged.",
    ),
    "con.pages.one-language-file": Promise(
        source="decision 0037: a template is its own catalogue",
        says="Every sentence that a page shows is in one list, so that another language of the pages is a file.",
    ),
    "con.sources.remove": Promise(
        source=PAGES,
        says="A source is removed with everything it left, after a page that says what goes; twice is once.",
    ),
    "con.pages.same-words": Promise(
        source=PAGES,
        says="Pages say of grants and of activity what the command says.",
    ),
    "con.pages.accessible": Promise(
        source=PAGES,
        says="The checker axe finds no fault of level A or AA on any page in any state, in either scheme.",
    ),
    "con.pages.narrow": Promise(
        source=PAGES,
        says="No page is wider than a screen of 320 pixels, whatever things are called.",
    ),
    "con.pages.print": Promise(
        source=PAGES,
        says="On paper a page has nothing to press and no dark background; where less motion is wanted, nothing moves.",
    ),
    "con.pages.small": Promise(
        source=PAGES,
        says="Each page is at most 60 kB, without its attachments.",
    ),
    "con.pages.record": Promise(
        source=PAGES,
        says="The address of a citation leads to the record, with its fields, its versions and who read it.",
        ruling=(7,),
    ),
    "con.pages.refusal": Promise(
        source=PAGES,
        says="A refusal is one page, with the words and the request id of every other door.",
    ),
    "con.pages.trouble": Promise(
        source=PAGES,
        says="Whatever goes wrong at any address is a page with the remedy in a browser, and for programs what they "
        "expect.",
    ),
    "con.data.clock": Promise(
        source=PAGES,
        says="Times of records are told by the owner's clock with its zone, the exact instant under the pointer.",
    ),
    "con.data.streams": Promise(
        source="issue 17: your data, browsable",
        says="A source leads to its streams, and a stream to its records, newest first, page by page, narrowed by what "
        "the declaration lets one compare and by dates.",
    ),
    "con.data.talk": Promise(
        source="issue 17: your data, browsable",
        says="A thread or chat is read as a talk from its beginning, and a record with what stands around it.",
    ),
    "con.data.notes": Promise(
        source="issue 17: your data, browsable",
        says="A note in Markdown looks as it was meant to; tags and pictures in it stay text, links tell nothing.",
    ),
    "con.data.month": Promise(
        source="issue 17: your data, browsable",
        says="A month is shown as a calendar, with times by the owner's clock, and of amounts as a table with what "
        "came in, what went out and both, of each currency by itself and of all that the month has; amounts that are "
        "not declared to add up have none.",
    ),
    "con.data.timeline": Promise(
        source="issue 17: your data, browsable",
        says="A day is shown over all sources, in the order of its times, as one read with one line in the log; an "
        "event that repeats stands on each of its days once.",
    ),
    "con.data.whole-days": Promise(
        source="issue 17: your data, browsable",
        says="What takes whole days is found under its day, in months, on the timeline and between two dates, whatever "
        "the zones of its calendar and of the owner.",
    ),
    "con.data.goes-on": Promise(
        source="issue 17: your data, browsable",
        says="What is declared to end on a later day stands on each of its days, in months, on the timeline and "
        "between two dates, and says until when.",
    ),
    "con.data.search": Promise(
        source="issue 17: your data, browsable",
        says="A search is narrowed to a source, to a stream, and of one stream to dates.",
    ),
    "con.data.gone": Promise(
        source="issue 17: your data, browsable",
        says="A page that is opened after its thing was removed says so.",
    ),
    "con.pages.search": Promise(
        source=PAGES,
        says="The owner searches everything by the ordinary reads, and the log names the owner as the reader.",
    ),
    "con.pages.sources": Promise(
        source=PAGES,
        says="Sources are shown with counts, times, freshness and what was rejected.",
    ),
    "con.clients.end": Promise(
        source=PAGES,
        says="Ending a client's access asks once, says what it did, and counts from its very next read on.",
    ),
    "con.clients.why": Promise(
        source="issue 17: grants as things one can change",
        says="Beside each read of a record stands why the client could read it, in the words of the decision.",
    ),
    "con.clients.unused": Promise(
        source="issue 17: grants as things one can change",
        says="A client that may read and has not for 90 days is pointed out.",
    ),
    "con.clients.last-read": Promise(
        source=PAGES,
        says="A client's last read is its own; what the owner previews as that client does not count.",
    ),
    "con.activity.sentences": Promise(
        source="issue 17: activity in sentences",
        says="Activity is told in sentences by day and client: what was asked in words, what was read by its titles, "
        "which lead to the records; ids and the line of the log are one fold away.",
    ),
    "con.activity.own-apart": Promise(
        source="issue 17: activity in sentences",
        says="The owner's own looks stand in a fold of their own and push no client's read off the page.",
    ),
    "con.activity.today": Promise(
        source="issue 17: activity in sentences",
        says="The first page tells what clients did today, and points out a client that read for the first time.",
    ),
    "con.activity.found": Promise(
        source=PAGES,
        says="What left is found by client, source, day, record and request, and drawn beside a table.",
    ),
    "con.consent.narrowed": Promise(
        source=CONSENT,
        says="The owner narrows streams, fields, times and the end, and an end is chosen beforehand.",
    ),
    "con.consent.preview": Promise(
        source=CONSENT,
        says="Before approving, the owner sees what the client would see: real counts and titles.",
    ),
    "con.consent.picked": Promise(
        source=CONSENT,
        says="Where a client names no source nothing is chosen beforehand, and three clicks are enough.",
    ),
    "con.consent.presets": Promise(
        source="issue 17: consent in one look",
        says="Each source is a card with its publisher's presets, its dates and the end, before any review; two of "
        "nine sources with a preset each take four clicks.",
    ),
    "con.consent.ends": Promise(
        source="issue 17: consent in one look",
        says="Each card may say when the access to it ends, and the others end together; each is kept when the owner "
        "agrees again or changes something else.",
    ),
    "con.consent.left-out": Promise(
        source="issue 17: consent in one look",
        says="The review says of each stream what is not included, and claims nothing that was narrowed away.",
    ),
    "con.consent.many": Promise(
        source="issue 17: consent in one look",
        says="Many sources are filtered by name without losing a choice, and one choice is taken over for all accounts "
        "of its kind.",
    ),
    "con.consent.empty": Promise(
        source="issue 17: consent in one look",
        says="Where nothing can be given yet, the page says so and leads to bringing data in.",
    ),
    "con.consent.changed": Promise(
        source=CONSENT,
        says="A choice that was changed after its review is shown again before it can be approved.",
    ),
    "con.consent.training": Promise(
        source=CONSENT,
        says="Training of models is allowed only by a box of its own, which is never ticked beforehand.",
    ),
    "con.consent.denied": Promise(
        source=CONSENT,
        says="A denial goes back to the client as `access_denied`.",
    ),
    "con.consent.device": Promise(
        source="authorization contract: device flow",
        says="A device's code leads to the same consent, and the device then gets its token.",
    ),
    "con.browser.walked": Promise(
        source=SAFE,
        says="Sign-in and consent are walked in a browser, wide and narrow, without scripts, and by keyboard alone.",
    ),
    "con.keys.rotated": Promise(
        source=SIGN_IN,
        says="A new cursor key ends every cursor that was given out, and nothing else.",
    ),
}
