"""Every endpoint, one row each: requests are routed by this table, and the API document is printed from it."""

from functools import cache

from starlette.requests import Request

from pdpp_server import errors
from pdpp_server.http.metrics import CONTENT_TYPE
from pdpp_server.resource_server import (
    aggregate,
    blobs,
    connections,
    connectors,
    deletes,
    discovery,
    fetch,
    ingest,
    probes,
    query_records,
    read_record_field,
    schema,
    search,
    state,
    stream_metadata,
    streams,
)
from pdpp_server.resource_server.endpoint import Endpoint, Inside, Notice
from pdpp_server.wire import aggregate as wire_aggregate
from pdpp_server.wire import blobs as wire_blobs
from pdpp_server.wire import connections as wire_connections
from pdpp_server.wire import connectors as wire_connectors
from pdpp_server.wire import deletes as wire_deletes
from pdpp_server.wire import fetch as wire_fetch
from pdpp_server.wire import ingest as wire_ingest
from pdpp_server.wire import query_records as wire_records
from pdpp_server.wire import read_record_field as wire_window
from pdpp_server.wire import schema as wire_schema
from pdpp_server.wire import search as wire_search
from pdpp_server.wire import state as wire_state
from pdpp_server.wire import stream_metadata as wire_metadata
from pdpp_server.wire import streams as wire_streams
from pdpp_server.wire.discovery import MCP, OPENAPI, RESOURCE_METADATA, metadata_path
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.openapi import DocumentedAnswer, DocumentedBody, Operation, encode_document

RECORDS = "/v1/streams/{stream}/records"
RECORD = "/v1/streams/{stream}/records/{key}"
ANY_BYTES = "*/*"

# Who may be refused what. A narrower kind of request adds to the wider one.
ANYBODY = (errors.InvalidRequest, errors.UnsupportedVersion, errors.Misdirected, errors.ServerTrouble)
BEARER = (
    *ANYBODY,
    errors.Unauthenticated,
    errors.PermissionDenied,
    errors.RateLimited,
    errors.QueryTimeout,
    errors.AuthorizationServerUnavailable,
    errors.DatabaseUnavailable,
)
READ = (
    *BEARER,
    errors.GrantExpired,
    errors.GrantRevoked,
    errors.GrantInvalid,
    errors.DisclosureLogUnavailable,
)
SELECTED = (*READ, errors.InvalidArgument, errors.ConnectionNotFound)
OF_STREAM = (
    *SELECTED,
    errors.ConnectorInvalid,
    errors.StreamNotGranted,
    errors.NotFound,
    errors.StreamNotDeclared,
)
OF_RECORD = (*OF_STREAM, errors.AmbiguousConnection, errors.UnknownField, errors.FieldNotGranted)
EXPANDING = (errors.InvalidExpand, errors.InsufficientScope)
WRITE = (
    *BEARER,
    errors.InvalidArgument,
    errors.ConnectorInvalid,
    errors.ConnectorInstanceNotFound,
    errors.AmbiguousConnectorInstance,
    errors.NotFound,
    errors.TooLarge,
    errors.IngestStorageError,
    errors.OwnerLimit,
)

DONE = (DocumentedAnswer("Done, whether or not there was anything.", media_type=None, status=204),)


@cache
def document() -> Json:
    """The API document."""
    return encode_document(row.operation for row in ENDPOINTS)


def _tell_document(_: Inside, request: Request) -> Json:
    discovery.require_bare(request)
    return document()


ENDPOINTS: tuple[Endpoint | Notice, ...] = (
    Endpoint(
        Operation(
            "GET",
            "/v1/schema",
            "schema",
            "What may be asked: the granted streams, their fields, and what can be done with each.",
            (DocumentedAnswer("The catalogue, in full or compact.", "Schema"),),
            wire_schema.PARAMETERS,
            (*READ, errors.AmbiguousSchemaDetail),
        ),
        schema.handle,
        "reader",
    ),
    Endpoint(
        Operation(
            "GET",
            "/v1/connectors",
            "connectors",
            "The sources that this token may see, with their streams and what can be asked of them.",
            (DocumentedAnswer("One row for each source.", "Connectors"),),
            wire_connectors.PARAMETERS,
            READ,
        ),
        connectors.handle,
        "reader",
    ),
    Endpoint(
        Operation(
            "GET",
            "/v1/streams",
            "streams",
            "How much there is of each stream of each connection, and when it last changed.",
            (DocumentedAnswer("One row for each stream and connection.", "Streams"),),
            wire_streams.PARAMETERS,
            (*SELECTED, errors.ConnectorInvalid),
        ),
        streams.handle,
        "reader",
    ),
    Endpoint(
        Operation(
            "GET",
            "/v1/streams/{stream}",
            "stream_metadata",
            "Everything that is declared of one stream.",
            (DocumentedAnswer("The declaration, and what the token may do with each field.", "StreamMetadata"),),
            wire_metadata.PARAMETERS,
            (*OF_STREAM, errors.AmbiguousSchemaDetail),
        ),
        stream_metadata.handle,
        "reader",
    ),
    Endpoint(
        Operation(
            "GET",
            "/v1/search",
            "search",
            "Find records by words, with the proven places where they stand.",
            (
                DocumentedAnswer(
                    "Hits in order of rank; in the lean form where `Prefer: pdpp-evidence=lean` asks for it, "
                    "and with `pdpp-evidence=whole` the same hits uncut.",
                    "SearchPage",
                ),
            ),
            wire_search.PARAMETERS,
            (
                *SELECTED,
                errors.UnsupportedMode,
                errors.InvalidCursor,
                errors.InvalidFilter,
                errors.UnknownField,
                errors.FieldNotGranted,
                errors.StreamNotGranted,
                errors.StreamNotDeclared,
            ),
        ),
        search.handle,
        "reader",
    ),
    Endpoint(
        Operation(
            "GET",
            RECORDS,
            "query_records",
            "A page of one stream, or what changed in it since a bookmark.",
            (DocumentedAnswer("Records, and in a change feed tombstones.", "RecordPage"),),
            wire_records.PARAMETERS,
            (
                *OF_STREAM,
                *EXPANDING,
                errors.AmbiguousConnection,
                errors.UnknownField,
                errors.FieldNotGranted,
                errors.InvalidFilter,
                errors.InvalidSort,
                errors.InvalidCursor,
                errors.CursorExpired,
            ),
        ),
        query_records.handle,
        "reader",
    ),
    Endpoint(
        Operation(
            "GET",
            "/v1/streams/{stream}/aggregate",
            "aggregate",
            "Numbers about the records of one stream, without the records.",
            (DocumentedAnswer("One value, or groups with their counts.", "Aggregation"),),
            wire_aggregate.PARAMETERS,
            (
                *OF_STREAM,
                errors.AmbiguousConnection,
                errors.UnknownField,
                errors.FieldNotGranted,
                errors.InvalidFilter,
            ),
        ),
        aggregate.handle,
        "reader",
    ),
    Endpoint(
        Operation(
            "GET",
            RECORD,
            "fetch",
            "One record by its key.",
            (DocumentedAnswer("The record, with its granted fields.", "OneRecord"),),
            wire_fetch.PARAMETERS,
            (*OF_RECORD, *EXPANDING),
        ),
        fetch.handle,
        "loop",
    ),
    Endpoint(
        Operation(
            "GET",
            f"{RECORD}/field-window",
            "read_record_field",
            "A bounded part of one long field.",
            (DocumentedAnswer("The text, where it stands, and where to go on.", "FieldWindow"),),
            wire_window.PARAMETERS,
            (
                *OF_RECORD,
                errors.InvalidFieldPath,
                errors.InvalidWindow,
                errors.FieldNotFound,
                errors.QueryNotFound,
                errors.FieldNotText,
            ),
        ),
        read_record_field.handle,
        "loop",
    ),
    Endpoint(
        Operation(
            "GET",
            "/v1/blobs/{blob_id}",
            "read_blob",
            "The bytes of a blob that a visible record refers to; a range of them where Range asks for one.",
            (
                DocumentedAnswer("All the bytes.", media_type=ANY_BYTES),
                DocumentedAnswer("The range.", media_type=ANY_BYTES, status=206),
                DocumentedAnswer("The caller has these bytes already.", media_type=None, status=304),
            ),
            wire_blobs.PARAMETERS,
            (*SELECTED, errors.BlobNotFound, errors.AmbiguousConnection, errors.RangeNotSatisfiable),
        ),
        blobs.handle,
        "reader",
    ),
    Endpoint(
        Operation(
            "POST",
            "/v1/blobs",
            "keep_blob",
            "Bytes for a record of the owner's, named by what they are.",
            (DocumentedAnswer("The reference for the record.", "Blob"),),
            wire_blobs.DELIVERY_PARAMETERS,
            (*WRITE, errors.InvalidRecordIdentity, errors.InvalidRecordId),
            DocumentedBody("The bytes.", "application/octet-stream"),
        ),
        blobs.keep,
        "writer",
        blobs.BLOB_BYTES_MAX,
    ),
    Endpoint(
        Operation(
            "POST",
            wire_connections.PATH,
            "declare_connection",
            "A connection for records of the owner's, declared and named; the same again is the same one.",
            (DocumentedAnswer("The connection, made or found.", "Connection"),),
            refusals=(
                *BEARER,
                errors.InvalidDeclaration,
                errors.TooLarge,
                errors.IngestStorageError,
                errors.OwnerLimit,
            ),
            sends=DocumentedBody("What declares its source, and its name.", "application/json", "SentConnection"),
        ),
        connections.declare,
        "writer",
        connections.BODY_BYTES_MAX,
    ),
    Endpoint(
        Operation(
            "POST",
            "/v1/ingest/{stream}",
            "ingest",
            "Records of the owner's, one JSON object a line; sending them again is safe.",
            (DocumentedAnswer("How many were accepted, and why others were not.", "Delivered"),),
            wire_ingest.PARAMETERS,
            WRITE,
            DocumentedBody("One record a line.", wire_ingest.CONTENT_TYPE),
        ),
        ingest.handle,
        "writer",
        ingest.BODY_BYTES_MAX,
    ),
    Endpoint(
        Operation(
            "GET",
            "/v1/state/{connector_id}",
            "get_state",
            "How far a collector of the owner's has come.",
            (DocumentedAnswer("The cursor of each stream.", "State"),),
            wire_state.PARAMETERS,
            WRITE,
        ),
        state.get,
        "reader",
    ),
    Endpoint(
        Operation(
            "PUT",
            "/v1/state/{connector_id}",
            "put_state",
            "Keep how far a collector of the owner's has come.",
            (DocumentedAnswer("The cursor of each stream, as kept.", "State"),),
            wire_state.PARAMETERS,
            WRITE,
            DocumentedBody("The cursors of the streams to change.", "application/json", "SentState"),
        ),
        state.put,
        "writer",
        state.BODY_BYTES_MAX,
    ),
    Endpoint(
        Operation(
            "DELETE",
            RECORD,
            "delete_record",
            "Delete one record of the owner's.",
            DONE,
            wire_deletes.PARAMETERS,
            (*WRITE, errors.InvalidRecordIdentity),
        ),
        deletes.one_record,
        "writer",
    ),
    Endpoint(
        Operation(
            "DELETE",
            RECORDS,
            "delete_records",
            "Delete every record of one stream of one connection.",
            DONE,
            wire_deletes.PARAMETERS,
            WRITE,
        ),
        deletes.all_records,
        "writer",
    ),
    Notice(
        Operation(
            "GET",
            "/",
            "index",
            "Where to begin.",
            (DocumentedAnswer("The addresses of the other documents.", "Index"),),
            refusals=ANYBODY,
        ),
        discovery.index,
    ),
    Notice(
        Operation(
            "GET",
            RESOURCE_METADATA,
            "protected_resource",
            "What a client must know to ask for a token and to use it (RFC 9728).",
            (DocumentedAnswer("The metadata of this resource.", "ProtectedResource"),),
            refusals=ANYBODY,
        ),
        discovery.protected_resource,
    ),
    Notice(
        Operation(
            "GET",
            metadata_path(MCP),
            "mcp_protected_resource",
            "The same for the MCP endpoint.",
            (DocumentedAnswer("The metadata of the MCP endpoint.", "McpResource"),),
            refusals=ANYBODY,
        ),
        discovery.mcp_resource,
    ),
    Notice(
        Operation(
            "GET",
            OPENAPI,
            "openapi",
            "This document.",
            (DocumentedAnswer("An OpenAPI 3.1 document.", "Document"),),
            refusals=ANYBODY,
        ),
        _tell_document,
    ),
    Notice(
        Operation(
            "GET",
            "/healthz",
            "healthz",
            "Whether the server can read and log.",
            (DocumentedAnswer("It can.", "Health"), DocumentedAnswer("It cannot.", "Health", status=503)),
            refusals=(errors.Misdirected,),
        ),
        probes.health,
        reads=True,
    ),
    Notice(
        Operation(
            "GET",
            "/livez",
            "livez",
            "Whether this process answers, whatever becomes of its database; one that does not is started again.",
            (DocumentedAnswer("It does.", "Live"),),
            refusals=(errors.Misdirected,),
        ),
        probes.live,
    ),
    Notice(
        Operation(
            "GET",
            "/readyz",
            "readyz",
            "Whether a balancer should send requests here: the database can be read, has the schema that this version "
            "knows, and takes lines of the log.",
            (DocumentedAnswer("It should.", "Ready"), DocumentedAnswer("Not now.", "Ready", status=503)),
            refusals=(errors.Misdirected,),
        ),
        probes.ready,
        reads=True,
    ),
    Notice(
        Operation(
            "GET",
            "/metrics",
            "metrics",
            "Counters and times for an operator's own machine.",
            (DocumentedAnswer("Prometheus text.", media_type=CONTENT_TYPE.partition(";")[0]),),
            refusals=(errors.Misdirected, errors.PermissionDenied),
        ),
        probes.metrics,
    ),
)
