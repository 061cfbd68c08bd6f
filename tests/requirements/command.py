"""What the command promises: what it prints, how it ends, and that a person is never left with a riddle."""

from tests.requirements.promise import Promise

PROMISES: dict[str, Promise] = {
    "cli.serve.workers": Promise(
        source="design: when one machine is not enough",
        says="`pdpp serve --workers N` answers with N processes on one port; a dead one is replaced, all end with it.",
    ),
    "cli.activity.today": Promise(
        source="issue 17: activity in sentences",
        says="`pdpp activity --today` tells in sentences what clients did today, with what they asked.",
    ),
    # meaning
    "cli.meaning.install": Promise(
        source="issue 15: meaning, offline",
        says="`pdpp meaning install` takes one exact package, by its digest, and leaves nothing half.",
    ),
    "cli.meaning.remove": Promise(
        source="issue 15: meaning, offline",
        says="`pdpp meaning remove` removes the model and every vector that it made.",
    ),
    # how it ends
    "cli.exit.usage": Promise(
        source="design: commands",
        says="What is not understood ends with 64, prints nothing on standard output and points to the help.",
    ),
    "cli.exit.one-line": Promise(
        source="design: errors",
        says="A refusal is one line on standard error: what is wrong, what to do, its code; never a traceback.",
    ),
    "cli.exit.suggestion": Promise(
        source="design: commands",
        says="A verb that is misspelt is answered with the one that was probably meant.",
    ),
    "cli.exit.settings": Promise(
        source="design: commands",
        says="A setting that cannot be meant ends with 64 and is named with what it may be.",
    ),
    "cli.help.examples": Promise(
        source="design: commands",
        says="Help lists every verb, teaches each by an example, and touches no home.",
    ),
    "cli.help.first": Promise(
        source="design: commands",
        says="Help begins with what most people do, and goes to standard output for every verb.",
    ),
    "cli.terminal.wraps": Promise(
        source="design: commands",
        says="In a narrow terminal lines break between words; what is copied and pasted stays one line.",
    ),
    "cli.readme.commands": Promise(
        source="design: commands",
        says="The commands for scripts work as they are written, and every verb that the README names exists.",
    ),
    # import and sources
    "cli.import.counts": Promise(
        source="design: commands",
        says="An import says how many lines were accepted, unchanged and rejected, and one without a record ends with "
        "1.",
    ),
    "cli.import.preview": Promise(
        source="design: commands",
        says="What an import counts before it writes is exact, or says that it is the least.",
    ),
    "cli.import.bar": Promise(
        source="design: commands",
        says="On a terminal the bar of an import names what is read, and moves while a batch of records is read.",
    ),
    "cli.import.rejections": Promise(
        source="design: commands",
        says="It shows the first 20 rejected lines and the command that shows all of them, in the order of the file.",
    ),
    "cli.import.stopped": Promise(
        source="design: commands",
        says="Ctrl-C says how many records are kept, and the same command run again brings in the others.",
    ),
    "cli.import.full-disk": Promise(
        source="design: commands",
        says="A disk without room is said in a line, and what was there before stays readable.",
    ),
    "cli.sources.empty": Promise(
        source="design: commands",
        says="An empty home says how to begin.",
    ),
    "cli.sources.remove": Promise(
        source="design: commands",
        says="Removing a source shows what will go, asks unless told not to, and then leaves no byte of it.",
    ),
    "cli.sources.rename": Promise(
        source="design: commands",
        says="A connection is shown by the name that it was given last; its id, its grants and its imports stay.",
    ),
    # grants
    "cli.grants.created": Promise(
        source="design: commands",
        says="A new grant prints its token once, its end, and the line that an agent is configured with.",
    ),
    "cli.grants.client-name": Promise(
        source="design: processes and home",
        says="A client that is saved has a name of 64 plain characters at most and a file that no other name shares.",
    ),
    "cli.grants.ends": Promise(
        source="design: commands",
        says="A grant ends when it was told to, and an end that cannot be meant makes no grant.",
    ),
    "cli.grants.listed": Promise(
        source="design: commands",
        says="The list has every grant with its state, and an unknown one is named with the way to the list.",
    ),
    "cli.grants.bad-selection": Promise(
        source="authorization contract: selection request",
        says="A selection that cannot be given is refused in a line with its place, and makes no grant.",
    ),
    "cli.grants.previewed": Promise(
        source="design: commands",
        says="A preview shows what the client would see, by the same reads, is logged as the owner's own, and leaves "
        "the client's last read as it was.",
    ),
    "cli.grants.explained": Promise(
        source="design: commands",
        says="Whether a read would be permitted, and of what, is said in sentences.",
    ),
    "cli.owner.token": Promise(
        source="design: commands",
        says="An owner's token is shown once with its end, lives the days that were asked for, and is new each time.",
    ),
    "cli.owner.password": Promise(
        source="design: commands",
        says="A password that is too short is refused before it is typed a second time.",
    ),
    # reading
    "cli.read.agents-words": Promise(
        source="design: commands",
        says="The terminal prints the very text that an agent reads, and with --json its structured content.",
    ),
    "cli.read.refusals": Promise(
        source="design: errors",
        says="A refused read ends with 1, in the words that the agent gets and with its request id.",
    ),
    "cli.read.one-grant": Promise(
        source="design: commands",
        says="The only live grant is read by; of several one must be named, and they are listed.",
    ),
    "cli.read.owner": Promise(
        source="design: commands",
        says="The owner reads everything without a grant, by name or where there is none, and is logged as the owner.",
    ),
    "cli.activity.narrowed": Promise(
        source="design: commands",
        says="What was disclosed is listed newest first, and narrowed by grant, request or record.",
    ),
    "cli.activity.verify": Promise(
        source="design: no log line, no record",
        says="A log that somebody touched ends with 1 and names the file and the line.",
    ),
    # serving
    "cli.serve.port-taken": Promise(
        source="design: commands",
        says="A taken port is said in a line with the way out.",
    ),
    "cli.serve.loopback": Promise(
        source="design: commands",
        says="Others are let in only on purpose: an address that they can reach needs a public one, or a flag.",
    ),
    "cli.serve.signals": Promise(
        source="design: commands",
        says="A polite signal ends the server without a traceback.",
    ),
    "cli.serve.known": Promise(
        source="design: commands",
        says="While a server runs, its home knows where; the mark of one that died is not believed.",
    ),
    "cli.serve.addresses": Promise(
        source="design: commands",
        says="A server prints the address that people and agents use: the public one where there is one.",
    ),
    "cli.serve.quiet": Promise(
        source="design: commands",
        says="A terminal shows no line for a request, a slow one neither, unless it is asked for.",
    ),
    "cli.serve.installed": Promise(
        source="design: processes",
        says="The server is kept running by the system's own means, with the settings of the shell, until it is taken "
        "away again.",
    ),
    "cli.demo.journey": Promise(
        source="design: commands",
        says="The demo shows one journey from what there is to what the owner sees, each call made of the answer "
        "before.",
    ),
    "cli.demo.lines-work": Promise(
        source="design: commands",
        says="The lines that the demo prints work while it runs.",
    ),
    "cli.demo.cleans-up": Promise(
        source="design: commands",
        says="However the demo ends, its folder is gone and nothing of the owner's was touched.",
    ),
    "cli.demo.sample": Promise(
        source="design: commands",
        says="The sample is hard on purpose: shared ids, several scripts and zones, a long text, and one that gives "
        "orders.",
    ),
    "cli.demo.same-bytes": Promise(
        source="design: commands",
        says="The exports of the sample life can be written into a folder, and are the same bytes on every run.",
    ),
    "cli.demo.imports": Promise(
        source="design: commands",
        says="The sample life is about 20,000 records of nine accounts; what cannot be read was meant to be so, and a "
        "second import reads nothing again.",
    ),
    "cli.demo.orders": Promise(
        source="design: untrusted content stays content",
        says="The mail of the sample that gives orders forges nothing in what an agent finds and fetches.",
    ),
    # safety of data
    "cli.backup.incremental": Promise(
        source="design: commands",
        says="Into the same folder again only what is new is copied, and a database that did not change gives no new "
        "snapshot.",
    ),
    "cli.backup.keep": Promise(
        source="design: commands",
        says="As many snapshots as were asked for are kept, with the blobs that they need and no others.",
    ),
    "cli.backup.private": Promise(
        source="design: processes and home",
        says="Backups, exports and restored homes can be read by their owner only, and help says that they are not "
        "encrypted.",
    ),
    "cli.backup.refuses": Promise(
        source="design: commands",
        says="A folder inside the home, a folder full of something else, and a home without data are refused and not "
        "touched.",
    ),
    "cli.backup.no-room": Promise(
        source="design: commands",
        says="A disk without room is said in a line, before or while it fills, and the earlier backup stays whole.",
    ),
    "cli.backup.interrupted": Promise(
        source="design: commands",
        says="A backup that was killed is not taken for a whole one, and the next run finishes it.",
    ),
    "cli.restore.damaged": Promise(
        source="design: commands",
        says="A backup with a damaged or missing file is refused with the name of the file, and nothing is changed.",
    ),
    "cli.restore.in-the-way": Promise(
        source="design: commands",
        says="A home that holds data is never overwritten: it is refused, or moved aside, and not while it is in use.",
    ),
    "cli.restore.at": Promise(
        source="design: commands",
        says="An earlier moment can be restored, and a time before the first is refused with those there are.",
    ),
    "cli.restore.newer": Promise(
        source="design: the embedded store",
        says="A backup of a newer schema is refused by name.",
    ),
    "cli.export.round-trip": Promise(
        source="design: commands",
        says="An export imported into an empty home gives the same connections, records, keys, times and blobs.",
    ),
    "cli.export.deterministic": Promise(
        source="design: commands",
        says="Two exports of the same data are the same bytes, wherever and in whatever order the data came.",
    ),
    "cli.export.refuses": Promise(
        source="design: commands",
        says="An export overwrites nothing, and an export that is not whole imports nothing.",
    ),
    "cli.doctor.well": Promise(
        source="design: commands",
        says="A sound home is well in every part and ends with 0, and where there is no home none is made.",
    ),
    "cli.doctor.finds": Promise(
        source="design: commands",
        says="Every planted fault is found, named with what to do about it, and ends with 1.",
    ),
    "cli.doctor.repair": Promise(
        source="design: commands",
        says="What the doctor says it mends is well afterwards, and no record, grant or log line was touched.",
    ),
    "cli.doctor.credentials": Promise(
        source="design: commands",
        says="A saved client that cannot read is named with the reason: unreadable, ended, its grant ended, a token "
        "that is unknown here, or an owner's by mistake.",
    ),
    "cli.doctor.password": Promise(
        source="design: commands",
        says="A server that others can reach without a password being set is a fault; elsewhere it is only said.",
    ),
    "cli.doctor.address": Promise(
        source="clients: OAuth as clients do it",
        says="The public address is asked as a client asks it, and each way to fail is told from the others.",
    ),
    "cli.doctor.inbox": Promise(
        source="design: commands",
        says="An inbox that is no folder or cannot be written, and exports that were refused, are named.",
    ),
    "cli.doctor.client-files": Promise(
        source="clients: ways in",
        says="An entry of ours in a client's own file that leads nowhere is named with the file, which is not changed.",
    ),
    "cli.install.names": Promise(
        source="clients: ways in",
        says="The package brings the command under its own name too, and every file that states the version agrees.",
    ),
    "cli.install.registry": Promise(
        source="clients: ways in, MCP registry",
        says="The entry in server.json is as the registry demands, and the README carries its name.",
    ),
    "cli.install.bundle": Promise(
        source="clients: ways in, Claude Desktop",
        says="The bundle is accepted by its makers' tool, and what it starts answers with the package inside of it.",
    ),
    "cli.install.deploy": Promise(
        source="design: processes",
        says="The unit is accepted by systemd where it can be asked, and what the image is built from is in the tree.",
    ),
    "cli.install.platforms": Promise(
        source="clients: ways in, Windows",
        says="What only some systems have is imported and called behind a question for the system.",
    ),
    "cli.docs.names": Promise(
        source="house: docs",
        says="Every variable, verb and file that the pages and the deployment files name exists.",
    ),
    "cli.tutorial.commands": Promise(
        source="design: commands",
        says=(
            "Every command of the tutorial, run in order on an empty machine, shows what its page says; at a person's "
            "pace it is ten minutes to a first answer."
        ),
    ),
}
