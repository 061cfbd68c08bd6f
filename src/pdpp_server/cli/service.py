"""`pdpp serve --install`: the server as a service of this user, kept running by systemd or launchd."""

import os
import plistlib
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from pdpp_server.cli.home import this_program
from pdpp_server.settings import Settings, variables
from pdpp_server.store.files import private_folder

NAME, LABEL = "pdpp.service", "dev.pdpp.serve"
SECRET = "PDPP_INTROSPECTION_SECRET"
SECONDS = 30
# As deploy/pdpp.service explains them: it needs its home folder, the network and nothing else.
UNIT = """# Written by `pdpp serve --install`; `pdpp serve --uninstall` takes it away.
[Unit]
Description=Personal data server
After=network-online.target

[Service]
Type=exec
{environment}
ExecStart={command}
Restart=on-failure
RestartSec=2
TimeoutStopSec=15
UMask=0077
NoNewPrivileges=yes
PrivateTmp=yes
ProtectSystem=strict
ProtectHome=read-only
ReadWritePaths={folders}
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
LockPersonality=yes
SystemCallArchitectures=native

[Install]
WantedBy=default.target
"""


@dataclass(frozen=True, slots=True)
class Service:
    """What a system's own keeper of services takes: the file, and the commands that begin and end what it says."""

    path: Path
    text: str
    begin: tuple[tuple[str, ...], ...]
    end: tuple[tuple[str, ...], ...]
    hint: str


def install(settings: Settings, words: Sequence[str], environ: Mapping[str, str] = os.environ) -> None:
    """Raises click.ClickException: this system has no such keeper, or it refused; the file is there then."""
    service = _service(settings, words, environ)
    private_folder(settings.home)  # the unit may write there and nowhere else, so it must be there
    service.path.parent.mkdir(parents=True, exist_ok=True)
    service.path.write_text(service.text, "utf-8")
    click.echo(f"Written: {service.path}")
    for command in service.begin:
        _run(command)
    click.echo(f"The server runs now, and whenever you sign in. {service.hint}")
    click.echo("`pdpp doctor` says where it answers; `pdpp serve --uninstall` ends it.")


def uninstall(settings: Settings, environ: Mapping[str, str] = os.environ) -> None:
    service = _service(settings, (), environ)
    if not service.path.exists():
        click.echo("There was nothing to remove.")
        return
    try:
        for command in service.end:
            _run(command)
    finally:  # also where nobody can be asked: whoever keeps services finds nothing to begin
        service.path.unlink()
        click.echo(f"Removed: {service.path}. Your data stays in {settings.home}.")
    click.echo("The server has ended.")


def _service(settings: Settings, words: Sequence[str], environ: Mapping[str, str]) -> Service:
    program, before = this_program()
    command = (program, *before, "serve", *words)
    kept = _kept(settings, environ)
    match sys.platform:
        case "linux":
            return systemd_unit(command, kept, [settings.home, *_folders(settings)], environ)
        case "darwin":
            return launchd_agent(command, kept)
        case _:
            raise click.ClickException(
                "This system keeps no services that this command knows. On Windows, the Task Scheduler starts it at "
                f'every sign-in: schtasks /Create /SC ONLOGON /TN pdpp /TR "{program} serve"'
            )


def systemd_unit(
    command: Sequence[str], kept: Mapping[str, str], folders: Sequence[Path], environ: Mapping[str, str]
) -> Service:
    there = Path(environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "systemd" / "user"
    text = UNIT.format(
        environment="\n".join(f"Environment={_quoted(f'{name}={value}')}" for name, value in kept.items()),
        command=" ".join(_quoted(word).replace("$", "$$") for word in command),
        folders=" ".join(_quoted(str(folder)) for folder in folders),
    )
    ask = ("systemctl", "--user")
    return Service(
        there / NAME,
        text,
        # Not `enable --now`: a server that runs already would go on as it was, and why it cannot begin is said last.
        begin=((*ask, "daemon-reload"), (*ask, "enable", NAME), (*ask, "restart", NAME)),
        end=((*ask, "disable", "--now", NAME),),
        hint="`loginctl enable-linger` keeps it while you are signed out; `journalctl --user -u pdpp` shows its log.",
    )


def launchd_agent(command: Sequence[str], kept: Mapping[str, str]) -> Service:
    path = Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    log = Path.home() / "Library" / "Logs" / "pdpp.log"
    agent = {
        "Label": LABEL,
        "ProgramArguments": list(command),
        "EnvironmentVariables": dict(kept),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "StandardErrorPath": str(log),
    }
    whose = f"gui/{os.getuid() if sys.platform != 'win32' else 0}"
    return Service(
        path,
        plistlib.dumps(agent).decode(),
        begin=(("launchctl", "bootstrap", whose, str(path)),),
        end=(("launchctl", "bootout", f"{whose}/{LABEL}"),),
        hint=f"Its log is {log}.",
    )


def _kept(settings: Settings, environ: Mapping[str, str]) -> dict[str, str]:
    """The settings of this shell, which the service would not know; a secret does not go into a file of ours."""
    if SECRET in environ:
        raise click.UsageError(f"{SECRET} is not written into a file for you; name one in {SECRET}_FILE.")
    if "@" in (settings.https_proxy or ""):
        raise click.UsageError("HTTPS_PROXY holds a password, which is not written into a file for you; unset it here.")
    named = {variable.name: environ[variable.name] for variable in variables() if variable.name in environ}
    return {**named, "PDPP_HOME": str(settings.home.absolute())}


def _folders(settings: Settings) -> list[Path]:
    return [settings.inbox.absolute()] if isinstance(settings.inbox, Path) else []


def _quoted(word: str) -> str:
    """One word of a unit: systemd reads quotes and backslashes as a shell does, and % as the beginning of a name."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _run(command: tuple[str, ...]) -> None:
    line = " ".join(command)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        raise click.ClickException(f"`{line}` cannot be run here. Run it yourself where it can.") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise click.ClickException(
            f"`{line}` was refused: {said[0] if said else 'it did not say why'}. "
            "It wants somebody who is signed in: not by su or sudo, nor in a container. "
            "There, keep `pdpp serve` running yourself."
        )
