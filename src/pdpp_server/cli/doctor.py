"""`pdpp doctor`: try every part once, say what is wrong and what to do, and mend what can be mended."""

import os
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

import click

from pdpp_server.cli.home import now
from pdpp_server.cli.machine import client_files, inbox
from pdpp_server.cli.running import as_served
from pdpp_server.cli.terminal import json_option, print_json, size_text
from pdpp_server.evidence.text import visible
from pdpp_server.model.health import Fault, Finding
from pdpp_server.owner.doctor import examine
from pdpp_server.port.credentials import OWNER_VARIABLES, TOKEN_VARIABLE
from pdpp_server.settings import InvalidSetting, Settings, variables
from pdpp_server.wire.command.health import FaultTold, encode_findings

PLACES_SHOWN = 5
ALIKE = 0.85  # of two names: one or two letters differ
REPAIR = "`pdpp doctor --repair` mends it."
AGAIN = "Connect it again: `pdpp connect CLIENT`, or `pdpp grants create --save`."
RESTORE = "Restore a backup: `pdpp restore FOLDER --replace`."

# Fault to what is wrong and what to do.
WORDS = {
    "setting_invalid": ("a setting cannot be meant", "Change or unset that variable."),
    "setting_misspelt": ("nothing reads a variable of that name", "Unset it."),
    "home_no_folder": (
        "there is a file where the home should be",
        "Move it away, or let PDPP_HOME name another folder.",
    ),
    "not_ours": ("your user may not look into it or write there", "Run this as whoever owns it, or make it yours."),
    "open_to_others": ("others can read {number} file{s} or folder{s}", REPAIR),
    "little_space": ("there is little space left on the disk", "Free some: without it nothing can be logged or read."),
    "key_broken": (
        "a key is broken",
        "Restore it from a backup, or remove the file: a new one is made, and open cursors end.",
    ),
    "key_missing": (
        "a key is missing",
        "Restore it from a backup; else a new one is made, and older log lines do not compare.",
    ),
    "damaged": ("the database is damaged", RESTORE),
    "dangling_rows": ("{number} row{s} without what they belong to", RESTORE),
    "streams_miscounted": ("wrong count of {number} stream{s}", REPAIR),
    "days_miscounted": ("wrong count of {number} day{s}", REPAIR),
    "meaning_damaged": (
        "the model for search by meaning is damaged; search is by words",
        "pdpp meaning remove, then pdpp meaning install",
    ),
    "meaning_differs": ("{number} records differ in the index of meaning", REPAIR),
    "index_damaged": ("the word index is damaged", REPAIR),
    "index_missing": ("{number} missing, so that records are not found", REPAIR),
    "index_surplus": ("{number} too many, which belong to no record", REPAIR),
    "index_differs": ("{number} of a sample not found by their own words", REPAIR),
    "history_broken": ("{number} version{s} contradicting others", RESTORE),
    "history_unerased": ("data left in {number} version{s} of deleted records", "Delete those records again."),
    "blob_lost": ("no file for {number} blob{s}", "Restore them from a backup, or import their source again."),
    "blob_damaged": (
        "other bytes than were delivered in {number} blob{s}",
        "Restore them from a backup, or import their source again.",
    ),
    "blob_stray": ("{number} file{s} of no blob", REPAIR),
    "grant_unreadable": ("{number} grant{s} unreadable", "Revoke them and create them anew: `pdpp grants list`."),
    "token_idle": ("{number} token{s} without a grant", "They open nothing; a backup may hold what they stood for."),
    "client_unreadable": ("the credential of {number} saved client{s} unreadable", AGAIN),
    "client_expired": ("the credential of {number} saved client{s} ended, and not renewable", AGAIN),
    "client_ended": ("{number} saved client{s} whose grant has ended", AGAIN),
    "client_unusable": ("{number} saved client{s} with a token that is unknown here", AGAIN),
    "client_owner": (
        "an owner's token saved for {number} client{s}, which could read everything",
        "Remove that file from the folder `clients` of the home, then connect the client: `pdpp connect CLIENT`.",
    ),
    "password_missing": (
        "no password is set, and others can reach your sign-in",
        "Choose one now: `pdpp owner password`.",
    ),
    "log_changed": (
        "{number} segment{s} changed after the writing",
        "See `pdpp activity verify`; compare with a backup.",
    ),
    "log_index_damaged": ("the index of the log cannot be used", REPAIR),
    "wal_large": ("the write-ahead log has grown to {number} MiB", REPAIR),
    "port_taken": ("something else than this server answers there", "End it, or choose another port with PDPP_PORT."),
    "server_unwell": ("the server answers that it is not well", "Look at its log; end it and start it again."),
    "address_plain": (
        "the public address has no https, so that clients elsewhere refuse it",
        "Put https before the server, and name that address in PDPP_PUBLIC_URL: docs/outside.md.",
    ),
    "address_silent": (
        "nobody answers at the public address",
        "Is `pdpp serve` running, and does the proxy or tunnel pass requests on to it? docs/outside.md shows how.",
    ),
    "address_other": (
        "what answers at the public address does not call itself so",
        "Start `pdpp serve` with this same PDPP_PUBLIC_URL; no client can sign in before that.",
    ),
    "inbox_no_folder": ("the inbox is no folder", "Make one there, or let PDPP_INBOX name another (0 for none)."),
    "inbox_locked": ("the inbox cannot be written, so nothing can be moved aside", "Make it yours, and writable."),
    "export_refused": (
        "{number} export{s} refused",
        "The .txt beside each says why. Mend or replace it, then drop it into the inbox again, or remove it.",
    ),
    "file_unreadable": (
        "{number} file{s} of clients not understood, though pdpp is named there",
        "Look for a missing comma or quote.",
    ),
    "entry_program_gone": (
        "{number} client{s} told to start a program that is not there",
        "Write the entry anew: `pdpp connect CLIENT --write`.",
    ),
    "entry_client_gone": (
        "{number} client{s} told to use a credential that is not saved",
        "Connect it again: `pdpp connect CLIENT --stdio --write`.",
    ),
    "entry_elsewhere": (
        "{number} client{s} told another address than this server has",
        "Write the entry anew: `pdpp connect CLIENT --write`; or set PDPP_PUBLIC_URL or PDPP_PORT as it was.",
    ),
    "standby": ("it is a standby, which takes no lines of the log", "PDPP_DATABASE_URL must lead to the primary."),
    "tables_of_others": (
        "{number} table{s} made by another role",
        "Connect as the role that made them: upgrades change tables.",
    ),
    "unguarded": (
        "{number} table{s} without forced row security or its policy",
        "End the servers; restore the database from a backup, or make the policies anew as its schema has them.",
    ),
    "replica_behind": ("a replica is {number} MiB behind", "Look at its server and the network between."),
    "words_dead": (
        "{number} dead row{s} in the index of words, more than live ones",
        "Let autovacuum come by more often (autovacuum_vacuum_scale_factor of the table words), or vacuum it now.",
    ),
    "refused": ("it could not be tried", "Mend what it says, then try again."),
    "failed": ("it could not be tried", "If nothing explains it, restore a backup."),
}
WELL = {
    "settings": "can all be meant",
    "home": "{home}",
    "permissions": "only you can read it",
    "space": "{free_bytes} free",
    "keys": "{keys} there",
    "database": "sound, schema {schema}",
    "counts": "right, {records} records",
    "meaning": "its vectors and the records agree",
    "index": "finds every record and nothing else",
    "history": "consistent",
    "blobs": "{blobs} there, each as it was delivered",
    "grants": "readable, and every token stands for one",
    "clients": "{clients} saved, {renewable} of them renewed by themselves",
    "password": "set",
    "log": "{lines} lines, as they were written",
    "log index": "up to date",
    "server": "PostgreSQL {version}, extensions: {extensions}",
    "role": "{role} is no superuser, made all {tables} tables, and row security is forced on it too",
    "row security": "on, forced, and by a policy for every table of owners",
    "replicas": "{replicas}, of which we may look at {seen}; at most {behind_bytes} behind",
    "word blocks": "{live} live, {dead} dead, {words_bytes}",
    "erased": "{dead} dead rows wait for vacuum; the write-ahead log {archived}, {slots} slots hold it, and dumps are "
    "yours: they keep what was erased since",
    "share": "{records} records",
    "wal": "{wal_bytes}",
    "port": "{port} is free: no server runs now; `pdpp serve` starts one",
    "address": "{public} answers, and calls itself so",
    "inbox": "{waiting} waiting, none refused",
    "client files": "{entries} of ours, all of which lead here",
}


@click.command()
@click.option("--repair", is_flag=True, help="Mend what can be made anew: permissions, indexes, counts, stray files.")
@json_option
def doctor(repair: bool, as_json: bool) -> int:
    """Try every part once; say what is wrong and what to do.

    The home is tried, and what is around it: the inbox, saved clients, what the clients' own files say of this server,
    and the public address as a client would ask it. Ends with 1 where anything is wrong. With --repair, permissions,
    indexes and counts are made anew and stray files removed; no record, grant or log line is touched.

    \b
    Example:
      pdpp doctor
      pdpp doctor --repair
    """
    findings: list[Finding] = []
    for finding in _findings(repair=repair):
        findings.append(finding)
        if not as_json:
            _say(finding)
    is_well = all(finding.is_well for finding in findings)
    if as_json:
        print_json(encode_findings(findings, _told))
    elif is_well:
        click.echo("All is well.")
    return 0 if is_well else 1


def _findings(*, repair: bool) -> Iterator[Finding]:
    try:
        settings = Settings.from_environ(os.environ)
        yield Finding("settings", tuple(_misspelt(os.environ)))
    except InvalidSetting as error:
        yield Finding("settings", (Fault("setting_invalid", places=(str(error),)),))
        home = {name: value for name, value in os.environ.items() if name == "PDPP_HOME"}
        settings = Settings.from_environ(home)
    settings = as_served(settings)
    yield from examine(settings, now=now(), repair=repair)
    for part, look in (("inbox", inbox), ("client files", client_files)):
        try:
            yield look(settings)
        except PermissionError as refusal:
            yield Finding(part, (Fault("not_ours", places=(str(refusal.filename),)),))


def _misspelt(environ: Iterable[str]) -> Iterator[Fault]:
    """A name that is nearly one of ours has no effect, and whoever wrote it believes that it has."""
    known = {variable.name for variable in variables()} | {TOKEN_VARIABLE, *OWNER_VARIABLES}
    for name in sorted(set(environ) - known):
        if name.startswith("PDPP_") and (meant := get_close_matches(name, known, n=1, cutoff=ALIKE)):
            yield Fault("setting_misspelt", places=(name,), remedy=f"{meant[0]} was probably meant.")


def _say(finding: Finding) -> None:
    for fault in finding.mended:
        click.echo(f"mended  {finding.part}: {_wrong(fault)}")
    for fault in finding.faults:
        told = _told(fault)
        click.echo(visible(f"WRONG   {finding.part}: {told.says}{_places(fault)}. {told.do}"))
    if finding.is_well and not finding.mended:
        click.echo(visible(f"ok      {finding.part}: {_well(finding)}"))


def _wrong(fault: Fault) -> str:
    wrong, _ = WORDS[fault.code]
    return wrong.format(number=fault.number, s="" if fault.number == 1 else "s")


def _places(fault: Fault) -> str:
    if not fault.places:
        return ""
    shown = ", ".join(fault.places[:PLACES_SHOWN])
    left = len(fault.places) - PLACES_SHOWN
    return f" ({shown} and {left} more)" if left > 0 else f" ({shown})"


def _well(finding: Finding) -> str:
    facts = {
        name: size_text(value) if name.endswith("_bytes") and isinstance(value, int) else value
        for name, value in finding.facts.items()
    }
    if finding.part == "home" and not facts.get("made"):
        return f"{facts['home']}: nothing is here yet; `pdpp import` begins it"
    if finding.part == "port" and facts.get("served"):
        return f"our server answers at {facts['port']}"
    if finding.part == "password" and not facts["set"]:
        return "none yet; `pdpp owner password` sets one, before a client signs in"
    if finding.part == "meaning" and not facts["models"]:
        return "no model; `pdpp meaning install` brings one, for search by meaning"
    if finding.part == "address" and not facts:
        return "for this machine only; PDPP_PUBLIC_URL names one for others"
    if finding.part == "inbox" and "waiting" not in facts:
        return "none; exports dropped into the folder `inbox` of the home would be imported by `pdpp serve`"
    return WELL[finding.part].format(**facts)


def _told(fault: Fault) -> FaultTold:
    _, remedy = WORDS[fault.code]
    return FaultTold(_wrong(fault), fault.remedy or remedy)
