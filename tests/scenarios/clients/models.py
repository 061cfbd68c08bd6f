"""Models that were written beforehand: each asks for one call of a tool, and keeps what it was shown of the answer."""

import json
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]


class Model(BaseHTTPRequestHandler):
    """`asks` is the call; `saw` what came back as its result, in the words of the program that made it."""

    asks: tuple[str, Json]
    saw: list[Any]
    offered: set[str]

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        events = list(self.events(asked))
        body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_error(404)

    do_HEAD = do_GET

    def events(self, asked: Json) -> Iterator[Json]:
        raise NotImplementedError

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


class Messages(Model):
    """As Anthropic's API speaks."""

    def events(self, asked: Json) -> Iterator[Json]:
        tools = {tool["name"] for tool in asked.get("tools", ())}
        self.offered |= tools
        results = [
            part["content"]
            for message in asked["messages"]
            for part in message["content"]
            if isinstance(part, dict) and part["type"] == "tool_result"
        ]
        self.saw.extend(results)
        name, arguments = self.asks
        block: Json = {"type": "text", "text": ""}
        delta: Json = {"type": "text_delta", "text": "Done."}
        if name in tools and not results:
            block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": asked["model"], "content": []}
        yield {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}}
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        reason = "tool_use" if block["type"] == "tool_use" else "end_turn"
        yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
        yield {"type": "message_stop"}


class Responses(Model):
    """As OpenAI's API speaks."""

    def events(self, asked: Json) -> Iterator[Json]:
        named = {tool.get("name", "") for tool in asked.get("tools", ())}
        inside = {
            f"{tool['name']}__{each['name']}"
            for tool in asked.get("tools", ())
            if tool["type"] == "namespace"
            for each in tool["tools"]
        }
        self.offered |= named | inside
        results = [item["output"] for item in asked["input"] if item["type"] == "function_call_output"]
        self.saw.extend(results)
        name, arguments = self.asks
        said = {"type": "output_text", "text": "Done."}
        item: Json = {"type": "message", "role": "assistant", "id": "msg_1", "content": [said]}
        if not results:
            space, _, tool = name.rpartition("__")
            call = {"type": "function_call", "call_id": "call_1", "arguments": json.dumps(arguments)}
            item = {**call, "name": tool, "namespace": space}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        yield {"type": "response.created", "response": {"id": "resp_1"}}
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        yield {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}}


@contextmanager
def speaking(kind: type[Model], tool: str, arguments: Json) -> Generator[tuple[str, type[Model]]]:
    """The address of a model that asks for that call."""
    model = type("Written", (kind,), {"asks": (tool, arguments), "saw": [], "offered": set()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), model)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", model
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
