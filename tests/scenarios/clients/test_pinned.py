"""What is installed from npm: exactly these bytes, from wherever the machine gets its packages."""

import json
import re

from tests.requirements import requirement
from tests.scenarios.clients.node import FOLDER


@requirement("mcp.clients.pinned")
def test_every_package_has_an_exact_version_and_a_digest_and_no_address() -> None:
    lock = (FOLDER / "package-lock.json").read_text("utf-8")
    wanted = json.loads((FOLDER / "package.json").read_bytes())
    root, *packages = json.loads(lock)["packages"].values()

    named = {**wanted["dependencies"], **wanted["optionalDependencies"]}
    assert {**root["dependencies"], **root["optionalDependencies"]} == named
    assert all(re.fullmatch(r"\d[\w.-]*", version) for version in named.values())
    assert all(package["integrity"].startswith("sha512-") for package in packages)
    assert "://" not in lock
