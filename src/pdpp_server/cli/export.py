"""`pdpp export FOLDER`: your records out again, in files that anything can read and `pdpp import` takes back."""

from pathlib import Path

import click

from pdpp_server.cli.home import named_home, open_home, shell_line
from pdpp_server.cli.progress import records_bar
from pdpp_server.cli.sources import find_source
from pdpp_server.cli.terminal import counted, json_option, print_columns, print_json, print_line
from pdpp_server.evidence.text import visible
from pdpp_server.owner.export import export as export_records
from pdpp_server.wire.command.copies import encode_export

FOLDER = click.Path(file_okay=False, path_type=Path)
REMARKS = {
    "stream_undeclared": "{place} belongs to a stream that is no longer declared; an import leaves it out.",
    "blob_lost": "Blob {place} is lost or damaged in the home and is not in the export; `pdpp doctor` says more.",
}
README = """Exported by pdpp.

export.json lists the connections. Each has a folder:

  declaration.json   what its source declares: streams, fields, keys
  STREAM.ndjson      one record a line, by key: {"stream", "key", "emitted_at", "data"}, UTF-8

blobs/ holds the bytes that records refer to, each file named by its SHA-256.

To bring it all into a home again:

  pdpp import FOLDER

That gives the same connections, records, keys and times. Deleted records, earlier versions of changed ones, grants and
the log of disclosures are not part of an export; `pdpp backup` keeps those.
"""


@click.command()
@click.argument("folder", type=FOLDER)
@click.option("--connection", metavar="CONNECTION", help="Only that connection (its id or its name).")
@json_option
def export(folder: Path, connection: str | None, as_json: bool) -> None:
    """Write your records out: NDJSON, declarations, blobs.

    The same data always gives the same bytes. `pdpp import FOLDER` brings it back: the same connections and records.
    What was deleted, earlier versions, grants and the log stay behind: for those there is `pdpp backup`.

    \b
    Example:
      pdpp export my-export
      pdpp export my-notes --connection "My notes"
    """
    with open_home() as home:
        found = home.owner.sources() if connection is None else [find_source(home, connection)]
        total = sum(stream.records for source in found for stream in source.streams)
        wanted = None if connection is None else found[0].connection_id
        with records_bar("Exporting", total) as progress:
            report = export_records(home.settings, folder, connection_id=wanted, readme=README, progress=progress)
    for remark in report.remarks:
        click.echo(visible(REMARKS[remark.code].format(place=remark.place)), err=True)
    if as_json:
        print_json(encode_export(str(folder.absolute()), report))
        return
    rows = [(each.connection_id, each.name, counted(each.records, "record")) for each in report.connections]
    if rows:
        print_columns(rows)
    click.echo(f"Written to {folder}. Bring it back with:")
    print_line(f"  {shell_line(named_home(), 'import', str(folder))}")
