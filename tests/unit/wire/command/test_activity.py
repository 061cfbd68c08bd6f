"""The log as the owner's command prints it."""

from types import MappingProxyType

from pdpp_server.evidence.text import compact_json
from pdpp_server.model.activity import Disclosure, Verdict
from pdpp_server.wire.command.activity import encode_activity, encode_exported, encode_kept, encode_verdicts


def test_a_disclosure_is_told_as_it_was_logged() -> None:
    query = MappingProxyType({"limit": 3})
    disclosure = Disclosure("t", "req_1", "search", "client", "cli_1", (), query, (), (), (), (), 9)
    (told,) = encode_activity([disclosure])["activity"]
    assert list(told) == list(Disclosure._fields)
    assert told["query"] == {"limit": 3}
    assert type(told["query"]) is dict  # whatever held it: only a dictionary is written as JSON


def test_the_other_documents() -> None:
    verdicts = encode_verdicts([Verdict("seg", "edited", 9, 2)], sound=False, root=None)
    assert compact_json(verdicts) == (
        '{"sound":false,"root":null,"segments":[{"segment":"seg","state":"edited","lines":9,"line":2}]}'
    )
    assert compact_json(encode_kept(None, 4)) == '{"days":null,"lines_let_go":4}'
    assert compact_json(encode_exported(2, "/log")) == '{"segments":2,"folder":"/log"}'
