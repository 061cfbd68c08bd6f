"""The command group: its verbs in the order a person meets them, each loaded when it is called."""

from importlib import import_module

import click
from click.exceptions import NoSuchCommand

# Verb to the module that holds it and its name there.
VERBS = {
    "demo": ("demo", "demo"),
    "import": ("importing", "importing"),
    "sources": ("sources", "sources"),
    "sync": ("live", "sync"),
    "connect": ("connect", "connect"),
    "grants": ("grants", "grants"),
    "mcp": ("group", "mcp"),
    "serve": ("serve", "serve"),
    "schema": ("read", "schema"),
    "query": ("read", "query"),
    "aggregate": ("read", "aggregate"),
    "search": ("read", "search"),
    "fetch": ("read", "fetch"),
    "read": ("read", "read"),
    "activity": ("activity", "activity"),
    "owner": ("owner", "owner"),
    "owners": ("owners", "owners"),
    "export": ("export", "export"),
    "meaning": ("meaning", "meaning"),
    "backup": ("backup", "backup"),
    "restore": ("restore", "restore"),
    "move": ("move", "move"),
    "doctor": ("doctor", "doctor"),
    "openapi": ("openapi", "openapi"),
}


class Verbs(click.Group):
    """Looks a verb up in its own file, so that one verb does not wait for the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Says what was probably meant: click looks for that among loaded verbs only."""
        if args[0] not in VERBS and not args[0].startswith("-"):
            raise NoSuchCommand(args[0], possibilities=VERBS, ctx=ctx)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module, name = VERBS[cmd_name]
        command: click.Command = getattr(import_module(f"pdpp_server.cli.{module}"), name)
        return command


@click.command(cls=Verbs, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pdpp-server", prog_name="pdpp")
@click.pass_context
def pdpp(context: click.Context) -> None:
    """Your own data, readable by the agents you choose, exactly as far as you agreed.

    \b
    Bring in what other services gave you, and let one agent read a part of it:
      pdpp import takeout.zip      mail, chats, calendar, bank, notes, and more
      pdpp search lease            what is there now, for your own eyes
      pdpp serve                   your pages, and the address for agents
      pdpp connect claude-code     or claude-desktop, codex, cursor, vscode, chatgpt
      pdpp activity                what it read

    \b
    Or first see it work, with a sample life in a throwaway home:
      pdpp demo

    Everything is kept in one folder, which PDPP_HOME names. Exit codes: 0 done, 64 the command was not understood,
    77 an owner's credential where none may be, 78 no usable credential, 1 anything else.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@click.command()
@click.option(
    "--client", metavar="NAME", help="The saved client whose grant applies; needed only where there are several."
)
@click.option("--provider-url", metavar="URL", help="Read from that server instead of this home.")
def mcp(client: str | None, provider_url: str | None) -> None:
    """Serve this home to one local agent (MCP over stdio).

    An agent starts this by itself; no server has to run. It reads with the credential that `pdpp connect CLIENT` or
    `pdpp grants create --save` kept for that client, which it renews by itself, or with the token in PDPP_ACCESS_TOKEN.
    With --provider-url, or PDPP_PROVIDER_URL, the records are those of any PDPP server: see `pdpp connect URL`.

    \b
    Example, for an agent that is configured by a command:
      claude mcp add my-data -- pdpp mcp --client my-agent
    """
    given = {"--client": client, "--provider-url": provider_url}
    words = "".join(f" {name} {value}" for name, value in given.items() if value)
    raise click.UsageError(f"`mcp` is the first word: pdpp mcp{words}")
