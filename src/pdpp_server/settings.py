"""Every setting with its type, default and sentence; nothing else reads the environment."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, tzinfo
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

_HOST = re.compile(r"[a-z0-9_.-]+|[0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*")


class InvalidSetting(Exception):
    """A variable of the environment has a value that cannot be meant."""


@dataclass(frozen=True, slots=True)
class Variable:
    """How one setting is written in the environment: its name, what it takes, and what it does."""

    name: str
    takes: str
    says: str
    read: Callable[[str], Any]


def _default_home() -> Path:
    from platformdirs import user_data_path  # noqa: PLC0415 - costs a tenth of a cold start, and only this default needs it

    return user_data_path("pdpp", appauthor=False)


def machine_zone() -> tzinfo:
    """Of the clock on the wall; by its name where that can be found out, so that times of other seasons are right."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # noqa: PLC0415 - only pages and imports need it

    linked = str(Path("/etc/localtime").resolve()).rpartition("zoneinfo/")[2]
    for name in (os.environ.get("TZ", "").removeprefix(":"), linked):
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
    return UTC


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(value: str) -> int:
        if not (value.isascii() and value.isdigit() and least <= int(value) <= most):
            raise ValueError
        return int(value)

    return read


def _one_of(*choices: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in choices:
            raise ValueError
        return value

    return read


def _language(value: str) -> str:
    """Which there are, the pages know."""
    if not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z]{2,8})?", value):
        raise ValueError
    return value


def _switch(value: str) -> bool:
    return _one_of("0", "1")(value) == "1"


def _text(value: str) -> str:
    if not value or not value.isprintable():
        raise ValueError
    return value


def _inbox(value: str) -> Path | bool:
    return value == "1" if value in {"0", "1"} else _folder(value)


def _folder(value: str) -> Path:
    return Path(_text(value)).expanduser()


def _hosts(value: str) -> tuple[str, ...]:
    return tuple(_host(name.strip()) for name in value.split(",") if name.strip())


def _networks(value: str) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(each.strip()) for each in value.split(",") if each.strip())


def _host(name: str) -> str:
    """A name or address as a Host header gives it, without port and brackets."""
    host = name.lower().removeprefix("[").removesuffix("]")
    if not _HOST.fullmatch(host):
        raise ValueError
    return host


def _address(value: str) -> str:
    parts = urlsplit(value)
    if (
        parts.scheme not in {"http", "https"}
        or not parts.hostname
        or "@" in parts.netloc
        or parts.query
        or parts.fragment
    ):
        raise ValueError
    _ = parts.port  # refuses one that is no number
    return value.rstrip("/")


def database_address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in {"postgresql", "postgres"} or not value.isprintable():
        raise ValueError
    if "," not in parts.netloc:  # several hosts, each with a port of its own, are for libpq to read
        _ = parts.port
    return value


def _proxy(value: str) -> str:
    """As other programs take it: often without a scheme, sometimes with a name and a password."""
    address = value if "://" in value else f"http://{value}"
    parts = urlsplit(address)
    if parts.scheme not in {"http", "https"} or not parts.hostname or not address.isprintable():
        raise ValueError
    _ = parts.port
    return address


def _switched(value: str) -> bool:
    return _one_of("on", "off")(value) == "on"


def _variable(name: str, takes: str, read: Callable[[str], Any], says: str) -> dict[str, Variable]:
    return {"variable": Variable(name, takes, says, read)}


class Introspecting(NamedTuple):
    """How an authorization server elsewhere is asked about tokens, and what it must say of itself and of us."""

    url: str
    client: str
    secret: str
    issuer: str
    resource: str
    cache_seconds: int = 0


@dataclass(frozen=True, slots=True)
class Settings:
    home: Path = field(
        default_factory=_default_home,
        metadata=_variable(
            "PDPP_HOME", "a folder", _folder, "Where records, grants, keys and the disclosure log are kept."
        ),
    )
    public_url: str | None = field(
        default=None,
        metadata=_variable("PDPP_PUBLIC_URL", "an http(s) address", _address, "The address that remote clients use."),
    )
    host: str = field(
        default="127.0.0.1", metadata=_variable("PDPP_HOST", "a host", _host, "The address to listen on.")
    )
    port: int = field(
        default=8787, metadata=_variable("PDPP_PORT", "0 to 65535", _whole(0, 65_535), "The port to listen on.")
    )
    trusted_hosts: tuple[str, ...] = field(
        default=(),
        metadata=_variable(
            "PDPP_TRUSTED_HOSTS",
            "hosts, separated by commas",
            _hosts,
            "Further names in a Host header that are answered, beside loopback and the public address.",
        ),
    )
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = field(
        default=(),
        metadata=_variable(
            "PDPP_TRUSTED_PROXIES",
            "addresses or networks, separated by commas",
            _networks,
            "Proxies in front of this server, by the addresses that they connect from: of these, and of nobody else, "
            "X-Forwarded-For is believed.",
        ),
    )
    log_sync: str = field(
        default="normal",
        metadata=_variable(
            "PDPP_LOG_SYNC",
            "normal or full",
            _one_of("normal", "full"),
            "What a line of the disclosure log survives: the death of the process (normal), or a power cut too (full).",
        ),
    )
    keep_asked: bool = field(
        default=True,
        metadata=_variable(
            "PDPP_KEEP_ASKED",
            "on or off",
            _switched,
            "Whether the words that clients search by are kept for you to see, sealed and outside of the log. Off, "
            "only their digests are written down.",
        ),
    )
    core_strict: bool = field(
        default=False,
        metadata=_variable(
            "PDPP_CORE_STRICT",
            "0 or 1",
            _switch,
            "Whether clients get only what Core v0.1 allows: no filter, expand or view.",
        ),
    )
    read_deadline_ms: int = field(
        default=5000,
        metadata=_variable(
            "PDPP_READ_DEADLINE_MS",
            "1 to 600000",
            _whole(1, 600_000),
            "How long a read may take before it is refused with query_timeout.",
        ),
    )
    change_history_limit: int = field(
        default=0,
        metadata=_variable(
            "PDPP_CHANGE_HISTORY_LIMIT",
            "0 to 1000000000",
            _whole(0, 1_000_000_000),
            "How many of the latest changes a bookmark of a change feed may lie back; 0 means any number.",
        ),
    )
    slow_ms: int = field(
        default=500,
        metadata=_variable(
            "PDPP_SLOW_MS", "0 to 600000", _whole(0, 600_000), "A read that takes longer is logged as a warning."
        ),
    )
    metrics_remote: bool = field(
        default=False,
        metadata=_variable(
            "PDPP_METRICS_REMOTE", "0 or 1", _switch, "Whether /metrics answers others than this machine."
        ),
    )
    rate_per_second: int = field(
        default=2000,
        metadata=_variable(
            "PDPP_RATE_PER_SECOND",
            "0 to 1000000",
            _whole(0, 1_000_000),
            "How many requests a second one token may make in the long run; 0 for any number.",
        ),
    )
    rate_burst: int = field(
        default=20_000,
        metadata=_variable(
            "PDPP_RATE_BURST",
            "1 to 1000000",
            _whole(1, 1_000_000),
            "How many requests one token may make at once, after a rest.",
        ),
    )
    inbox: Path | bool = field(
        default=True,
        metadata=_variable(
            "PDPP_INBOX",
            "0, 1 or a folder",
            _inbox,
            "Whether `pdpp serve` imports what is dropped into the folder `inbox` of the home, where there is one; or "
            "into which folder.",
        ),
    )
    provider_url: str | None = field(
        default=None,
        metadata=_variable(
            "PDPP_PROVIDER_URL",
            "an http(s) address",
            _address,
            "The server that `pdpp mcp` and the reading verbs ask, instead of this home.",
        ),
    )
    provider_timeout_ms: int = field(
        default=30_000,
        metadata=_variable(
            "PDPP_PROVIDER_TIMEOUT_MS",
            "1 to 600000",
            _whole(1, 600_000),
            "How long that server may take for one answer, further tries included.",
        ),
    )
    provider_plain_http: bool = field(
        default=False,
        metadata=_variable(
            "PDPP_PROVIDER_PLAIN_HTTP",
            "0 or 1",
            _switch,
            "Whether that server may be asked without TLS though it is not on this machine; its token is then readable "
            "on its way.",
        ),
    )

    owner_token: str | None = field(
        default=None,
        repr=False,
        metadata=_variable(
            "PDPP_OWNER_TOKEN",
            "a token",
            _text,
            "An owner's token of the server that `pdpp import --to` delivers to. Where it is set, `pdpp mcp` does not "
            "start.",
        ),
    )
    client_documents: bool = field(
        default=True,
        metadata=_variable(
            "PDPP_CLIENT_DOCUMENTS",
            "on or off",
            _switched,
            "Whether an app may be known by a document at its own https address. Off, it registers here, and nothing "
            "is read from the internet.",
        ),
    )
    https_proxy: str | None = field(
        default=None,
        repr=False,
        metadata=_variable(
            "HTTPS_PROXY", "an http(s) address", _proxy, "The proxy through which such documents are read."
        ),
    )
    introspection_url: str | None = field(
        default=None,
        metadata=_variable(
            "PDPP_INTROSPECTION_URL",
            "an http(s) address",
            _address,
            "Where an authorization server elsewhere is asked about tokens (RFC 7662). This server then issues none; "
            "clients read by those of that one alone.",
        ),
    )
    introspection_client: str | None = field(
        default=None,
        metadata=_variable(
            "PDPP_INTROSPECTION_CLIENT",
            "a name",
            _text,
            "The name by which that server knows this one: `pdpp owner resource-server NAME` there.",
        ),
    )
    introspection_secret: str | None = field(
        default=None,
        repr=False,
        metadata=_variable(
            "PDPP_INTROSPECTION_SECRET", "a secret", _text, "The secret that was printed there; better in a file."
        ),
    )
    introspection_secret_file: Path | None = field(
        default=None,
        metadata=_variable("PDPP_INTROSPECTION_SECRET_FILE", "a file", _folder, "The file that holds that secret."),
    )
    introspection_cache_seconds: int = field(
        default=0,
        metadata=_variable(
            "PDPP_INTROSPECTION_CACHE_SECONDS",
            "0 to 60",
            _whole(0, 60),
            "How long an answer that says yes is kept, and a revocation may stay unseen; 0 asks for every request.",
        ),
    )
    issuer: str | None = field(
        default=None,
        metadata=_variable(
            "PDPP_ISSUER",
            "an http(s) address",
            _address,
            "What that server calls itself: `issuer` in its metadata.",
        ),
    )
    language: str = field(
        default="en",
        metadata=_variable(
            "PDPP_LANGUAGE",
            "en, or the name of a file there",
            _language,
            "The language of your pages: each is a file in `console/sentences`, and what it lacks is said in English.",
        ),
    )
    upload_bytes: int = field(
        default=8_000_000_000,
        metadata=_variable(
            "PDPP_UPLOAD_BYTES",
            "0 to 1000000000000",
            _whole(0, 1_000_000_000_000),
            "The most that can be brought in through a page at once; `pdpp import` and the inbox have no limit.",
        ),
    )
    database_url: str | None = field(
        default=None,
        repr=False,
        metadata=_variable(
            "PDPP_DATABASE_URL",
            "a postgresql:// address",
            database_address,
            "A PostgreSQL database, 15 or newer, that keeps everything durable instead of the home. TLS, several hosts "
            "and whatever else libpq knows are parameters of the address.",
        ),
    )
    database_connections: int = field(
        default=10,
        metadata=_variable(
            "PDPP_DATABASE_CONNECTIONS",
            "1 to 1000",
            _whole(1, 1000),
            "How many connections to that database one process opens for reads and writes; two more are for the "
            "disclosure log.",
        ),
    )
    database_write_ms: int = field(
        default=300_000,
        metadata=_variable(
            "PDPP_DATABASE_WRITE_MS",
            "1000 to 86400000",
            _whole(1000, 86_400_000),
            "How long one statement that writes may take there; PDPP_READ_DEADLINE_MS bounds those that read.",
        ),
    )
    key_file: Path | None = field(
        default=None,
        metadata=_variable(
            "PDPP_KEY_FILE",
            "a file",
            _folder,
            "The key that wraps the keys in the database: the same for every process; made where it is not there. "
            "Without it, `keys/wrapping.key` in the home.",
        ),
    )
    workers: int = field(
        default=1,
        metadata=_variable(
            "PDPP_WORKERS", "1 to 64", _whole(1, 64), "How many processes `pdpp serve` answers with, on one port."
        ),
    )

    owner: str | None = field(
        default=None,
        metadata=_variable(
            "PDPP_OWNER",
            "the name of an owner",
            _text,
            "Whose share of the database a command works on; `pdpp serve` serves all of them without it.",
        ),
    )
    owner_records: int = field(
        default=0,
        metadata=_variable(
            "PDPP_OWNER_RECORDS",
            "0 to 1000000000000",
            _whole(0, 10**12),
            "How many records each owner of the database may have; 0 for any number.",
        ),
    )
    owner_bytes: int = field(
        default=0,
        metadata=_variable(
            "PDPP_OWNER_BYTES",
            "0 to 1000000000000000",
            _whole(0, 10**15),
            "How many bytes of records and attached files each owner may have; 0 for any number.",
        ),
    )
    owner_connections: int = field(
        default=0,
        metadata=_variable(
            "PDPP_OWNER_CONNECTIONS",
            "0 to 1000000",
            _whole(0, 1_000_000),
            "How many connected accounts each owner may have; 0 for any number.",
        ),
    )
    owner_requests_per_second: int = field(
        default=0,
        metadata=_variable(
            "PDPP_OWNER_REQUESTS_PER_SECOND",
            "0 to 1000000",
            _whole(0, 1_000_000),
            "How many requests a second all that reads of one owner may make together, at all processes, and ten times "
            "as many at once; 0 for any number.",
        ),
    )

    @property
    def authorization_server(self) -> str | None:
        """The one elsewhere that issues the tokens; None where this server does."""
        return self.issuer if self.introspection_url else None

    @property
    def introspecting(self) -> Introspecting | None:
        """None where this server knows its tokens itself. Raises `InvalidSetting` with the names of what is missing."""
        if self.introspection_url is None:
            return None
        needed = {
            "PDPP_INTROSPECTION_CLIENT": self.introspection_client,
            "PDPP_INTROSPECTION_SECRET_FILE": self.introspection_secret or self._secret_of_file(),
            "PDPP_ISSUER": self.issuer,
            "PDPP_PUBLIC_URL": self.public_url,
        }
        missing = [name for name, value in needed.items() if not value]
        if missing:
            raise InvalidSetting(f"With PDPP_INTROSPECTION_URL these are needed too: {', '.join(missing)}.")
        client, secret, issuer, resource = map(str, needed.values())
        return Introspecting(self.introspection_url, client, secret, issuer, resource, self.introspection_cache_seconds)

    def _secret_of_file(self) -> str | None:
        if self.introspection_secret_file is None:
            return None
        try:
            return self.introspection_secret_file.read_text(encoding="utf-8").strip()
        except (OSError, ValueError):
            raise InvalidSetting("PDPP_INTROSPECTION_SECRET_FILE must be a file that can be read.") from None

    @property
    def inbox_folder(self) -> Path | None:
        """Where exports are dropped; None where nobody looks."""
        if isinstance(self.inbox, Path):
            return self.inbox
        return self.home / "inbox" if self.inbox else None

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "Settings":
        """Raises `InvalidSetting` with the name of the variable and what it takes; its value is not repeated."""
        values: dict[str, Any] = {}
        for each in fields(cls):
            variable: Variable = each.metadata["variable"]
            given = environ.get(variable.name)
            if not given and not variable.name.startswith("PDPP_"):  # not ours alone: empty means none, and it is
                given = environ.get(variable.name.lower()) or None  # spelt in two ways
            if given is not None:
                try:
                    values[each.name] = variable.read(given)
                except ValueError:
                    raise InvalidSetting(f"{variable.name} must be {variable.takes}.") from None
        return cls(**values)


def variables() -> tuple[Variable, ...]:
    """Every variable, in the order of the reference."""
    return tuple(each.metadata["variable"] for each in fields(Settings))
