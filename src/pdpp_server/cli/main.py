"""The command itself, and the one place that turns a refusal into an exit code."""

# `pdpp mcp` must answer before a person would notice, so nothing dear may be imported here.
from __future__ import annotations

import errno
import os
import sys

TYPE_CHECKING = False  # `typing` alone would double the start-up time
if TYPE_CHECKING:
    from collections.abc import Sequence

    from pdpp_server.errors import PdppError
    from pdpp_server.port.bridge import Bridge
    from pdpp_server.port.credentials import Credential
    from pdpp_server.port.reader import Reader
    from pdpp_server.settings import Settings

OTHER, USAGE_ERROR, UNUSABLE = 1, 64, 78
_REMEDIES = {
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "Name another place, or run this as whoever may."),
    **dict.fromkeys((errno.EEXIST, errno.ENOTDIR), "Move that aside, or name another place."),
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "Free some, and run it again."),
}


def main() -> None:
    arguments = sys.argv[1:]
    try:
        code = _mcp(arguments[1:]) if arguments[:1] == ["mcp"] else _run(arguments)
    except KeyboardInterrupt:  # while the program is still being read, a verb does not hear it yet
        sys.stderr.write("pdpp: Stopped.\n")
        code = OTHER
    sys.exit(code)


def _run(arguments: Sequence[str]) -> int:
    import click

    from pdpp_server.cli.group import pdpp
    from pdpp_server.cli.terminal import wrap_terminals
    from pdpp_server.errors import PdppError, Unauthenticated
    from pdpp_server.port.credentials import CredentialError
    from pdpp_server.settings import InvalidSetting

    _print_anything()
    wrap_terminals()
    try:
        code = pdpp.main(list(arguments), prog_name="pdpp", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return USAGE_ERROR if isinstance(error, click.UsageError) else OTHER
    except PdppError as refusal:
        _say(_refusal_line(refusal))
        return UNUSABLE if isinstance(refusal, Unauthenticated) else OTHER
    except CredentialError as refusal:
        _say(str(refusal))
        return refusal.exit_code
    except InvalidSetting as error:
        _say(str(error))
        return USAGE_ERROR
    except (click.Abort, KeyboardInterrupt):
        _say("Stopped.")
        return OTHER
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except Exception as trouble:  # noqa: BLE001 - a person gets a line, not a traceback
        _say(_trouble_line(trouble))
        return OTHER
    return code if isinstance(code, int) else 0


def _mcp(arguments: Sequence[str]) -> int:
    from pdpp_server.mcp import stdio

    if not {"-h", "--help"}.isdisjoint(arguments):  # for a person, who can wait for what a terminal needs
        from pdpp_server.cli.terminal import wrap_terminals

        wrap_terminals()
    home = os.path.expanduser(os.environ.get("PDPP_HOME") or _usual_home())  # noqa: PTH111 - pathlib is dear to import
    try:
        return stdio.main(
            arguments,
            os.environ,
            home=home,
            token_kind=lambda token: _token_kind(home, token),
            open_reader=_local_reader,
            open_provider=_network_reader,
        )
    except OSError as trouble:
        _say(_trouble_line(trouble))
        return OTHER


def _token_kind(home: str, token: str) -> str | None:
    if os.environ.get("PDPP_DATABASE_URL"):
        from pdpp_server.store.opened import token_kind

        return token_kind(_settings(), token)
    from pdpp_server.store.engines.sqlite.peek import token_kind as kind_in_home

    return kind_in_home(home, token)


def _usual_home() -> str:
    from pdpp_server.settings import Settings

    return str(Settings().home)


def _local_reader(credential: Credential) -> Reader:
    from pdpp_server.cli.home import services_of
    from pdpp_server.port.local import LocalReader

    settings = _settings()
    services = services_of(settings)
    reader = LocalReader(services, credential.token, settings.public_url)
    if credential.client is None:
        return reader
    from pdpp_server.cli.renewing import renewed_here

    return renewed_here(settings, services, credential, reader)


def _network_reader(address: str, credential: Credential) -> Reader | Bridge:
    from pdpp_server.cli.provider import open_provider

    return open_provider(_settings(), address, credential)


def _settings() -> Settings:
    """Read when the first answers have left already, so that a wrong setting is told to whoever asks."""
    from pdpp_server.cli.home import read_settings
    from pdpp_server.errors import ServerTrouble
    from pdpp_server.settings import InvalidSetting

    try:
        return read_settings()
    except InvalidSetting as error:
        raise ServerTrouble(str(error), remedy="The owner must mend it where the adapter is started.") from error


def _refusal_line(refusal: PdppError) -> str:
    place = refusal.param or ""
    where = f" (at {place})" if place.startswith("/") and not refusal.message.startswith(f"{place}: ") else ""
    request = f", request {refusal.request_id}" if refusal.request_id else ""
    return " ".join(f"{refusal.message}{where} {refusal.remedy}".split()) + f" [{refusal.code}{request}]"


def _trouble_line(trouble: Exception) -> str:
    """What went wrong, and the last place of ours that saw it."""
    import traceback

    if isinstance(trouble, OSError) and trouble.strerror:
        place = f": {trouble.filename}" if trouble.filename else ""
        return f"{trouble.strerror}{place}. {_REMEDIES.get(trouble.errno or 0, '')}".rstrip()
    ours = [frame for frame in traceback.extract_tb(trouble.__traceback__) if "pdpp_server" in frame.filename]
    place = f" at {os.path.basename(ours[-1].filename)}:{ours[-1].lineno}" if ours else ""  # noqa: PTH119
    return f"Something unforeseen: {type(trouble).__name__}{place}: {trouble}"


def _say(line: str) -> None:
    from pdpp_server.evidence.text import visible

    sys.stderr.write(f"pdpp: {visible(line)}\n")


def _print_anything() -> None:
    """A terminal that lacks a character shows its number, and nothing fails."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


if __name__ == "__main__":
    main()
