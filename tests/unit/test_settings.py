"""Settings from the environment."""

from dataclasses import fields
from ipaddress import ip_network
from pathlib import Path

import pytest

from pdpp_server.settings import InvalidSetting, Settings, variables


def test_without_an_environment_everything_has_its_default() -> None:
    settings = Settings.from_environ({})

    assert settings.home.name == "pdpp"
    assert (settings.host, settings.port, settings.public_url) == ("127.0.0.1", 8787, None)
    assert (settings.log_sync, settings.core_strict, settings.read_deadline_ms, settings.slow_ms) == (
        "normal",
        False,
        5000,
        500,
    )


def test_each_setting_is_read_from_its_variable() -> None:
    settings = Settings.from_environ(
        {
            "PDPP_HOME": "/srv/pdpp",
            "PDPP_PUBLIC_URL": "https://Me.example:8443/",
            "PDPP_HOST": "::1",
            "PDPP_PORT": "0",
            "PDPP_TRUSTED_HOSTS": " NAS.local, [::2] ,",
            "PDPP_TRUSTED_PROXIES": "127.0.0.1, 10.1.0.0/16, ::1,",
            "PDPP_LOG_SYNC": "full",
            "PDPP_KEEP_ASKED": "off",
            "PDPP_CORE_STRICT": "1",
            "PDPP_READ_DEADLINE_MS": "250",
            "PDPP_CHANGE_HISTORY_LIMIT": "9",
            "PDPP_SLOW_MS": "0",
            "PDPP_METRICS_REMOTE": "1",
            "PDPP_RATE_PER_SECOND": "0",
            "PDPP_RATE_BURST": "7",
            "PATH": "/bin",
        }
    )

    assert settings == Settings(
        Path("/srv/pdpp"),
        "https://Me.example:8443",
        "::1",
        0,
        ("nas.local", "::2"),
        (ip_network("127.0.0.1"), ip_network("10.1.0.0/16"), ip_network("::1")),
        "full",
        False,
        True,
        250,
        9,
        0,
        True,
        0,
        7,
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PDPP_HOME", ""),
        ("PDPP_PUBLIC_URL", "me.example"),
        ("PDPP_PUBLIC_URL", "ftp://me.example"),
        ("PDPP_PUBLIC_URL", "https://user@me.example"),
        ("PDPP_PUBLIC_URL", "https://me.example:http"),
        ("PDPP_PUBLIC_URL", "https://me.example/?a=b"),
        ("PDPP_HOST", ""),
        ("PDPP_HOST", "a b"),
        ("PDPP_PORT", "http"),
        ("PDPP_PORT", "-1"),
        ("PDPP_PORT", "65536"),
        ("PDPP_PORT", "٨"),
        ("PDPP_TRUSTED_HOSTS", "nas.local:80"),
        ("PDPP_TRUSTED_HOSTS", "https://nas.local"),
        ("PDPP_TRUSTED_HOSTS", "*"),
        ("PDPP_TRUSTED_PROXIES", "*"),
        ("PDPP_TRUSTED_PROXIES", "nginx"),
        ("PDPP_TRUSTED_PROXIES", "10.1.2.3/16"),
        ("PDPP_LOG_SYNC", "off"),
        ("PDPP_CORE_STRICT", "true"),
        ("PDPP_READ_DEADLINE_MS", "0"),
        ("PDPP_SLOW_MS", "1.5"),
        ("PDPP_METRICS_REMOTE", ""),
        ("PDPP_RATE_PER_SECOND", "-1"),
        ("PDPP_RATE_BURST", "0"),
        ("PDPP_CLIENT_DOCUMENTS", "0"),
        ("HTTPS_PROXY", "socks5://proxy.example"),
    ],
)
def test_a_bad_value_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(InvalidSetting, match=f"^{name} must be "):
        Settings.from_environ({name: value})


def test_a_refused_value_is_not_repeated() -> None:
    with pytest.raises(InvalidSetting) as refused:
        Settings.from_environ({"PDPP_PUBLIC_URL": "https://me:hunter2@example"})

    assert "hunter2" not in str(refused.value)


def test_every_setting_has_a_variable_and_a_sentence() -> None:
    assert len(variables()) == len(fields(Settings)) == len({variable.name for variable in variables()})
    assert all(variable.says.endswith(".") for variable in variables())
    assert {variable.name for variable in variables() if not variable.name.startswith("PDPP_")} == {"HTTPS_PROXY"}


@pytest.mark.parametrize(
    ("given", "proxy"),
    [
        ({"HTTPS_PROXY": "http://me:hunter2@proxy.example:3128"}, "http://me:hunter2@proxy.example:3128"),
        ({"https_proxy": "proxy.example:3128"}, "http://proxy.example:3128"),
        ({"HTTPS_PROXY": "", "https_proxy": ""}, None),
    ],
)
def test_a_proxy_is_taken_as_other_programs_take_it(given: dict[str, str], proxy: str | None) -> None:
    settings = Settings.from_environ(given)

    assert settings.https_proxy == proxy
    assert "hunter2" not in repr(settings)


def test_another_server_is_set_by_its_address_a_time_and_whether_it_needs_tls() -> None:
    given = {
        "PDPP_PROVIDER_URL": "http://nas.local:8787/pdpp/",
        "PDPP_PROVIDER_TIMEOUT_MS": "900",
        "PDPP_PROVIDER_PLAIN_HTTP": "1",
    }
    settings = Settings.from_environ(given)

    assert (settings.provider_url, settings.provider_timeout_ms) == ("http://nas.local:8787/pdpp", 900)
    assert settings.provider_plain_http
    for name in given:
        with pytest.raises(InvalidSetting, match=name):
            Settings.from_environ({name: "never"})
