"""A client of the Python SDK, 1.x or 2.x: does what the lines of standard input say, and answers each with one."""

# Run as a program of its own: the two versions cannot live in one process.
import asyncio
import json
import sys
from contextlib import AsyncExitStack
from importlib.metadata import version
from typing import Any
from urllib.parse import parse_qs, urlsplit

from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientMetadata

REDIRECT = "http://localhost:33418/callback"
IS_OLD = version("mcp").startswith("1.")


class Kept:
    tokens = client = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client_info: Any) -> None:
        self.client = client_info


def say(**line: Any) -> None:
    print(json.dumps(line), flush=True)


async def go(address: str) -> None:
    say(go=address)


async def come_back() -> Any:
    back = {name: values[0] for name, values in parse_qs(urlsplit(sys.stdin.readline().strip()).query).items()}
    if IS_OLD:
        return back["code"], back["state"]
    from mcp.client.auth import AuthorizationCodeResult

    return AuthorizationCodeResult(code=back["code"], state=back["state"], iss=back.get("iss"))


async def opened(stack: AsyncExitStack, url: str, auth: Any) -> Any:
    if IS_OLD:
        from mcp import ClientSession
        from mcp.client.streamable_http import streamablehttp_client  # pyright: ignore[reportAttributeAccessIssue]

        read, write, _ = await stack.enter_async_context(streamablehttp_client(url, auth=auth))
        session = await stack.enter_async_context(ClientSession(read, write))
        await session.initialize()
        return session
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    http = await stack.enter_async_context(httpx2.AsyncClient(auth=auth))
    return await stack.enter_async_context(Client(streamable_http_client(url, http_client=http)))


async def done(word: str, url: str, auth: Any) -> Any:
    async with AsyncExitStack() as stack:
        client = await opened(stack, url, auth)
        if word == "tools":
            return [tool.name for tool in (await client.list_tools()).tools]
        if word == "twice":
            return [await hits_or_fault(client), await hits_or_fault(client)]
        return await hits(client)


async def hits(client: Any) -> int:
    answer = await client.call_tool("search", {"query": "lease"})
    structured = answer.structuredContent if IS_OLD else answer.structured_content
    return len(structured["results"])


async def hits_or_fault(client: Any) -> int | str:
    try:
        return await hits(client)
    except Exception as fault:  # noqa: BLE001 - by another name in each version
        return str(fault)


async def main(url: str) -> None:
    metadata = OAuthClientMetadata.model_validate({"client_name": "Python agent", "redirect_uris": [REDIRECT]})
    auth = OAuthClientProvider(url, metadata, Kept(), go, come_back)
    for word in iter(sys.stdin.readline, ""):
        if word.strip() == "age":  # as if its token had reached its end
            auth.context.token_expiry_time = 1
            say(done=None)
            continue
        try:
            say(done=await done(word.strip(), url, auth))
        except BaseException as trouble:  # noqa: BLE001 - told to whoever gave the order
            say(failed=repr(trouble))


asyncio.run(main(sys.argv[1]))
