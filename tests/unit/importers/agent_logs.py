"""Lines of the logs that coding agents write."""

import orjson

from pdpp_server.wire.envelope import Json


def lines(*objects: Json) -> bytes:
    return b"".join(orjson.dumps(one) + b"\n" for one in objects)


def said(uuid: str, text: str, session: str = "s1", **more: object) -> Json:
    about = {"uuid": uuid, "parentUuid": None, "sessionId": session, "timestamp": f"2026-03-01T10:00:0{uuid}Z"}
    return {"type": "user", "message": {"role": "user", "content": text}, **about, **more}


def item(text: str, role: str = "user") -> Json:
    payload = {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}
    return {"timestamp": "2026-04-01T08:00:00Z", "type": "response_item", "payload": payload}


def meta(session: str) -> Json:
    return {
        "timestamp": "2026-04-01T08:00:00Z",
        "type": "session_meta",
        "payload": {"id": session, "cwd": "/home/m/lamp"},
    }
