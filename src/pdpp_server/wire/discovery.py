"""Discovery documents: what can be learnt of us by our address alone. They name what answers, and no more."""

from collections.abc import Iterable

from pdpp_server.model.catalogue import CLIENT_QUERY_EXTENSIONS
from pdpp_server.model.queries import BEGINNING, SEARCH_LIMIT, SEARCH_LIMIT_MAX
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.grants import DETAIL_TYPE
from pdpp_server.wire.oauth import OFFLINE_SCOPE, READ_SCOPE
from pdpp_server.wire.oauth_clients import GRANT_TYPES
from pdpp_server.wire.search import DISTANCE_KIND, DISTANCE_ORDER, SCORE_KIND, SCORE_ORDER

NAME = "Personal data server"
CONNECT_VERSION = "draft-2026-04-16"  # of how clients find their way here, as the public reference numbers it
RESOURCE_METADATA = "/.well-known/oauth-protected-resource"
SERVER_METADATA = "/.well-known/oauth-authorization-server"
REGISTER, PUSH, AUTHORIZE, TOKEN = "/oauth/register", "/oauth/par", "/oauth/authorize", "/oauth/token"
DEVICE, REVOKE, INTROSPECT = "/oauth/device_authorization", "/oauth/revoke", "/introspect"
ICON = "/icon.svg"
OPENAPI = "/openapi.json"
MCP = "/mcp"
QUERY_BASE, SCHEMA, CONNECTORS, SEARCH = "/v1", "/v1/schema", "/v1/connectors", "/v1/search"
TOKEN_KINDS = ("owner", "client")
MCP_TOKEN_KINDS = ("client", "mcp_package")
TOLD_TOKEN_KINDS = ("client",)  # what another server tells of a package does not say what it may read


def metadata_path(path: str) -> str:
    """Where the document that describes an address stands: the MCP endpoint is a resource of its own (RFC 9728)."""
    return f"{RESOURCE_METADATA}{MCP}" if path == MCP else RESOURCE_METADATA


# People type the address of the MCP endpoint with a slash at its end too; clients then ask for documents likewise.
WITH_SLASH = {f"{document}{MCP}/": f"{document}{MCP}" for document in ("", RESOURCE_METADATA, SERVER_METADATA)}


def encode_health(*, database: bool, log: bool) -> Json:
    return {"object": "health", "database": database, "log": log}


def is_health(body: object) -> bool:
    """Whether a server of ours says how it is."""
    match body:
        case {"object": "health"}:
            return True
        case _:
            return False


LIVE: Json = {"object": "live"}


def encode_ready(*, database: bool, schema: bool, log: bool) -> Json:
    return {"object": "ready", "database": database, "schema": schema, "log": log}


def encode_index(origin: str, issuer: str, revision: str) -> Json:
    return {
        "object": "pdpp_discovery_index",
        "role": "resource_server",
        "resource_name": NAME,
        "reference_revision": revision,
        "links": {
            "well_known": f"{origin}{RESOURCE_METADATA}",
            "well_known_authorization_server": f"{issuer}{SERVER_METADATA}",
            "schema": f"{origin}{SCHEMA}",
            "core_query_base": f"{origin}{QUERY_BASE}",
            "connectors": f"{origin}{CONNECTORS}",
            "openapi": f"{origin}{OPENAPI}",
        },
    }


def encode_resource(origin: str, issuer: str, *, core_strict: bool, by_meaning: bool = False) -> Json:
    """RFC 9728."""
    return {
        "resource": origin,
        "resource_name": NAME,
        "authorization_servers": [issuer],
        "scopes_supported": [READ_SCOPE],
        "bearer_methods_supported": ["header"],
        "pdpp_core_query_base": f"{origin}{QUERY_BASE}",
        "pdpp_provider_connect_version": CONNECT_VERSION,
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
            **(_encode_meaning() if by_meaning else {}),
            "client_query_extensions": [] if core_strict else list(CLIENT_QUERY_EXTENSIONS),
        },
    }


def encode_mcp_resource(origin: str, issuer: str, slash: str, kinds: Iterable[str] = MCP_TOKEN_KINDS) -> Json:
    """RFC 9728, of the MCP endpoint by the name that the client has for it: with a slash, if it was typed so."""
    return {
        "resource": f"{origin}{MCP}{slash}",
        "resource_name": NAME,
        "authorization_servers": [issuer],
        "scopes_supported": [READ_SCOPE],
        "bearer_methods_supported": ["header"],
        "pdpp_token_kinds_supported": list(kinds),
        "pdpp_agent_discovery": _encode_agents(origin),
    }


def encode_authorization_server(origin: str, *, documents: bool = True) -> Json:
    """RFC 8414. `offline_access` stands here and not beside the resource: a refresh token is no right to read.

    Without `documents`, clients are not told that a document of theirs would do.
    """
    return {
        "issuer": origin,
        "authorization_endpoint": f"{origin}{AUTHORIZE}",
        "token_endpoint": f"{origin}{TOKEN}",
        "device_authorization_endpoint": f"{origin}{DEVICE}",
        "introspection_endpoint": f"{origin}{INTROSPECT}",
        "introspection_endpoint_auth_methods_supported": ["client_secret_basic"],
        "revocation_endpoint": f"{origin}{REVOKE}",
        "revocation_endpoint_auth_methods_supported": ["none"],
        "pushed_authorization_request_endpoint": f"{origin}{PUSH}",
        "registration_endpoint": f"{origin}{REGISTER}",
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "grant_types_supported": [*GRANT_TYPES],
        "scopes_supported": [READ_SCOPE, OFFLINE_SCOPE],
        "authorization_details_types_supported": [DETAIL_TYPE],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": documents,
        "pdpp_authorization_details_types_supported": [DETAIL_TYPE],
        "pdpp_provider_connect_capabilities": ["third_party_client_connect"],
        "pdpp_registration_modes_supported": ["dynamic", *(["client_id_metadata_document"] if documents else [])],
    }


def _encode_agents(origin: str) -> Json:
    return {"mcp": {"endpoint": f"{origin}{MCP}"}}


def _encode_meaning() -> Json:
    """Told where a model is installed: how far its index is, each answer says for what it shows."""
    told = {
        "supported": True,
        "stability": "experimental",
        "endpoint": SEARCH,
        "cross_stream": True,
        "query_input": "text",
        "snippets": False,
        "default_limit": SEARCH_LIMIT,
        "max_limit": SEARCH_LIMIT_MAX,
        "cursor_supported": True,
        "count_supported": False,
    }
    distance = {"supported": True, "kind": DISTANCE_KIND, "order": DISTANCE_ORDER}
    return {
        "semantic_retrieval": {**told, "mode": "semantic", "lexical_blending": False, "score": distance},
        "hybrid_retrieval": {**told, "mode": "hybrid"},
    }


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
