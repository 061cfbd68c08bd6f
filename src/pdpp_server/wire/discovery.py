"""Discovery documents: what can be learnt of us by our address alone. They name what answers, and no more."""

from pdpp_server.model.queries import BEGINNING, SEARCH_LIMIT, SEARCH_LIMIT_MAX
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.schema import client_query_extensions
from pdpp_server.wire.search import SCORE_KIND, SCORE_ORDER

NAME = "Personal data server"
RESOURCE_METADATA = "/.well-known/oauth-protected-resource"
OPENAPI = "/openapi.json"
MCP = "/mcp"
QUERY_BASE, SCHEMA, CONNECTORS, SEARCH = "/v1", "/v1/schema", "/v1/connectors", "/v1/search"
TOKEN_KINDS = ("owner", "client")
MCP_TOKEN_KINDS = ("client", "mcp_package")


def metadata_path(path: str) -> str:
    """Where the document that describes an address stands: the MCP endpoint is a resource of its own (RFC 9728)."""
    return f"{RESOURCE_METADATA}{MCP}" if path == MCP else RESOURCE_METADATA


def encode_index(origin: str) -> Json:
    return {
        "object": "pdpp_discovery_index",
        "role": "resource_server",
        "resource_name": NAME,
        "links": {
            "well_known": f"{origin}{RESOURCE_METADATA}",
            "schema": f"{origin}{SCHEMA}",
            "core_query_base": f"{origin}{QUERY_BASE}",
            "connectors": f"{origin}{CONNECTORS}",
            "openapi": f"{origin}{OPENAPI}",
        },
    }


def encode_resource(origin: str, *, core_strict: bool) -> Json:
    """RFC 9728."""
    return {
        "resource": origin,
        "resource_name": NAME,
        "bearer_methods_supported": ["header"],
        "pdpp_core_query_base": f"{origin}{QUERY_BASE}",
        "pdpp_self_export_supported": True,
        "pdpp_token_kinds_supported": list(TOKEN_KINDS),
        "pdpp_agent_discovery": _encode_agents(origin),
        "pdpp_discovery_hints": {
            "schema_endpoint": SCHEMA,
            "query_base": QUERY_BASE,
            "connectors_endpoint": CONNECTORS,
            "streams_endpoint_template": "/v1/streams/{stream}",
            "aggregate": {"endpoint_template": "/v1/streams/{stream}/aggregate"},
            "changes_since_bootstrap": BEGINNING,
            "blob_indirection": "data.blob_ref.fetch_url",
            "search": {"endpoint": SEARCH, "scope_param": "streams[]", "filter_requires_single_stream": True},
        },
        "capabilities": {
            "lexical_retrieval": _encode_lexical(),
            "client_query_extensions": client_query_extensions(core_strict=core_strict),
        },
    }


def encode_mcp_resource(origin: str) -> Json:
    """RFC 9728, of the MCP endpoint."""
    return {
        "resource": f"{origin}{MCP}",
        "resource_name": NAME,
        "bearer_methods_supported": ["header"],
        "pdpp_token_kinds_supported": list(MCP_TOKEN_KINDS),
        "pdpp_agent_discovery": _encode_agents(origin),
    }


def _encode_agents(origin: str) -> Json:
    return {"mcp": {"endpoint": f"{origin}{MCP}"}}


def _encode_lexical() -> Json:
    return {
        "supported": True,
        "endpoint": SEARCH,
        "cross_stream": True,
        "query_input": "text",
        "snippets": True,
        "default_limit": SEARCH_LIMIT,
        "max_limit": SEARCH_LIMIT_MAX,
        "cursor_supported": True,
        "count_supported": True,
        "score": {
            "supported": True,
            "kind": SCORE_KIND,
            "order": SCORE_ORDER,
            "value_semantics": "implementation_relative",
        },
    }
