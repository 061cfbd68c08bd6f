"""Everything that can go wrong for a caller, in one tree.

    PdppError
    ├── InvalidRequest (400)           A parameter is unknown, malformed, repeated or excluded by another.
    ├── Unauthenticated (401)          No bearer token, or one that is not valid here.
    ├── PermissionDenied (403)         The token is of the wrong kind for this.
    ├── NotFound (404)                 There is no such thing, or none that this grant shows.
    ├── Conflict (409)                 Base of refusals where more than one thing could be meant.
    ├── CursorExpired (410)            The bookmark is older than the history that is kept.
    ├── TooLarge (413)                 The body or a line is larger than accepted.
    ├── RangeNotSatisfiable (416)      The blob is shorter than the range asked for.
    ├── Misdirected (421)              The Host header names a host that this server does not answer for.
    ├── FieldNotText (422)             The field holds no text to read in windows.
    ├── RateLimited (429)              Too many requests for this token.
    └── ServerTrouble (500, 502, 503)  Something unforeseen; the request id finds it in the server's log.

A category fixes type and status, a leaf fixes the code. A docstring is the sentence the reference prints; `remedy` is
the next step. No message ever holds text of a record. A few codes are only known from other servers, which may answer
with them: `invalid_record`, `grant_time_range_exceeded`, `grant_consumed` and `run_terminal`.
"""

from dataclasses import dataclass

CANDIDATES_MAX = 12  # that a refusal names, at every door; beyond them it says how many there are


@dataclass(frozen=True, slots=True)
class Candidate:
    """One source that a refusal offers instead."""

    connection_id: str
    connector_key: str
    grant_id: str | None = None
    label: str | None = None


class PdppError(Exception):
    """Base of every refusal."""

    type = "api_error"
    status = 500
    code = "api_error"
    remedy = ""
    retry_after_seconds = 0  # of a refusal that ends by itself

    def __init__(
        self,
        message: str,
        *,
        param: str | None = None,
        remedy: str | None = None,
        candidates: tuple[Candidate, ...] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.candidates = candidates
        self.request_id: str | None = None
        self.answered: int | None = None  # the HTTP status, where a server elsewhere refused
        self.is_of_token = False  # whether it was the caller who was refused, before anything was asked
        if remedy is not None:
            self.remedy = remedy


# 400 --------------------------------------------------------------------------------------------------------------


class InvalidRequest(PdppError):
    """A parameter is unknown, malformed, repeated or excluded by another."""

    type, status, code = "invalid_request_error", 400, "invalid_request"


class InvalidArgument(InvalidRequest):
    """Two selectors contradict each other."""

    code = "invalid_argument"


class InvalidCursor(InvalidRequest):
    """The cursor is not one of ours, or belongs to another grant, query or order."""

    code = "invalid_cursor"
    remedy = "Repeat the call without the cursor."


class InvalidExpand(InvalidRequest):
    """The relation is not declared, or its limit is out of bounds."""

    code = "invalid_expand"


class InvalidSort(InvalidRequest):
    """Records can only be sorted by the declared cursor field."""

    code = "invalid_sort"


class InvalidWindow(InvalidRequest):
    """A window's numbers are out of bounds, or exclude each other."""

    code = "invalid_window"


class InvalidFieldPath(InvalidRequest):
    """A window needs one top-level field."""

    code = "invalid_field_path"


class UnknownField(InvalidRequest):
    """The stream declares no such field."""

    code = "unknown_field"


class UnsupportedVersion(InvalidRequest):
    """This server speaks another version of the protocol."""

    code = "unsupported_version"


class InvalidRecord(InvalidRequest):
    """The record does not fit what its stream declares."""

    code = "invalid_record"


class InvalidRecordIdentity(InvalidRequest):
    """The key and the primary-key fields of the data disagree."""

    code = "invalid_record_identity"


class ConnectorInvalid(InvalidRequest):
    """No such connector is declared here."""

    code = "connector_invalid"


class InvalidRecordId(InvalidRequest):
    """A record id is malformed."""

    code = "invalid_record_id"
    remedy = "Pass an id exactly as a tool printed it: connection_id/stream:record_key."


class ConflictingConnectionId(InvalidRequest):
    """The id names one connection and the argument another."""

    code = "conflicting_connection_id"
    remedy = "Leave connection_id out: the id already names its connection."


class InvalidFilter(InvalidRequest):
    """The filter is not a typed object over filterable fields."""

    code = "invalid_filter"


class InvalidFieldWindowSelector(InvalidRequest):
    """Exactly one of cursor, offset_chars and q may place a window."""

    code = "invalid_field_window_selector"


class UnsupportedMode(InvalidRequest):
    """This server lacks that search mode."""

    code = "unsupported_mode"


class InvalidDeclaration(InvalidRequest):
    """A source declaration contradicts itself, or an earlier one of the same version."""

    code = "invalid_declaration"


class InvalidAuthorizationDetails(InvalidRequest):
    """A selection asks for what the source does not declare."""

    code = "invalid_authorization_details"


# 401, 403 ---------------------------------------------------------------------------------------------------------


class Unauthenticated(PdppError):
    """No bearer token, or one that is not valid here."""

    type, status, code = "authentication_error", 401, "authentication_error"
    remedy = "Connect again to get a token."


class PermissionDenied(PdppError):
    """The token is of the wrong kind for this."""

    type, status, code = "permission_error", 403, "permission_error"


class OwnerLimit(PermissionDenied):
    """The owner would have more than the operator allows."""

    code = "owner_limit_reached"
    remedy = "Remove what is no longer needed, or ask the operator for more."


class FieldNotGranted(PermissionDenied):
    """The field exists, and the grant leaves it out."""

    code = "field_not_granted"
    remedy = "Call `schema` with the stream to see the granted fields; only the owner can widen a grant."


class InsufficientScope(PermissionDenied):
    """The related stream is not granted."""

    code = "insufficient_scope"


class StreamNotGranted(PermissionDenied):
    """The grant does not include that stream."""

    code = "grant_stream_not_allowed"
    remedy = "Call `schema` to see the granted streams; only the owner can widen a grant."


class GrantTimeRangeExceeded(PermissionDenied):
    """The time asked for lies outside the grant."""

    code = "grant_time_range_exceeded"


class GrantExpired(PermissionDenied):
    """The grant has ended."""

    code = "grant_expired"
    remedy = "Ask the owner to connect again."


class GrantRevoked(PermissionDenied):
    """The owner took the grant back."""

    code = "grant_revoked"
    remedy = "Stop reading; ask the owner before connecting again."


class GrantInvalid(PermissionDenied):
    """The grant cannot be applied to what is stored now."""

    code = "grant_invalid"
    remedy = "Ask the owner to connect again."


class GrantConsumed(PermissionDenied):
    """A single-use grant gives one token only."""

    code = "grant_consumed"
    remedy = "Ask the owner for a new grant."


class PackageRevoked(PermissionDenied):
    """No grant of this package is alive."""

    code = "package_revoked"
    remedy = "Ask the owner to connect again."


# 404, 409, 410, 413, 421, 422, 429 --------------------------------------------------------------------------------


class NotFound(PdppError):
    """There is no such thing, or none that this grant shows."""

    type, status, code = "not_found_error", 404, "not_found"


class StreamNotDeclared(NotFound):
    """The stream was granted, and its source no longer declares it."""

    code = "stream_not_declared"


class ConnectionNotFound(NotFound):
    """This grant addresses no such connection."""

    code = "connection_not_found"
    remedy = "Call `schema` to see the connections."


class ConnectorInstanceNotFound(NotFound):
    """The connector has no such connection."""

    code = "connector_instance_not_found"
    remedy = "`pdpp sources` shows the connections."


class BlobNotFound(NotFound):
    """No visible record refers to such a blob."""

    code = "blob_not_found"


class FieldNotFound(NotFound):
    """This record has no value in that field."""

    code = "field_not_found"
    remedy = "`fetch` shows the fields of a record."


class QueryNotFound(NotFound):
    """The text searched for does not occur in that field."""

    code = "query_not_found"
    remedy = "Try another word, or read by offset_chars."


class Conflict(PdppError):
    """Base of refusals where more than one thing could be meant."""

    type, status, code = "conflict_error", 409, "conflict"


class AmbiguousConnection(Conflict):
    """Several connections could be meant."""

    code = "ambiguous_connection"
    remedy = "Repeat with connection_id."


class AmbiguousConnectorInstance(Conflict):
    """The connector has several connections, and none was named."""

    code = "ambiguous_connector_instance"
    remedy = "Repeat with connection_id."


class AmbiguousSchemaDetail(Conflict):
    """The full schema is given for one source at a time."""

    code = "ambiguous_schema_detail"
    remedy = "Repeat with connection_id."


class ApprovalConflict(Conflict):
    """The owner has decided this already."""

    code = "approval_conflict"
    remedy = "Ask the client to connect again."


class CursorExpired(PdppError):
    """The bookmark is older than the history that is kept."""

    type, status, code = "gone_error", 410, "cursor_expired"
    remedy = "Start again with changes_since=beginning."


class TooLarge(PdppError):
    """The body or a line is larger than accepted."""

    type, status, code = "invalid_request_error", 413, "resource_limit"


class RangeNotSatisfiable(PdppError):
    """The blob is shorter than the range asked for."""

    type, status, code = "invalid_request_error", 416, "range_not_satisfiable"
    remedy = "Ask for a range within its size, or for all of it."
    size: int | None = None  # of the blob, which the answer must tell


class Misdirected(PdppError):
    """The Host header names a host that this server does not answer for."""

    type, status, code = "invalid_request_error", 421, "misdirected_request"


class FieldNotText(PdppError):
    """The field holds no text to read in windows."""

    type, status, code = "unprocessable_error", 422, "field_not_text"
    remedy = "Read it with fetch and `fields`."


class RateLimited(PdppError):
    """Too many requests for this token."""

    type, status, code = "rate_limit_error", 429, "rate_limit_exceeded"
    remedy = "Wait for as many seconds as Retry-After says."
    retry_after_seconds = 1


# 5xx --------------------------------------------------------------------------------------------------------------


class ServerTrouble(PdppError):
    """Something unforeseen; the request id finds it in the server's log."""


class SourceUnavailable(ServerTrouble):
    """The server that holds the data cannot be reached, or does not speak the protocol."""

    status, code = 502, "source_unavailable"
    remedy = "Try again later."


class AuthorizationServerUnavailable(ServerTrouble):
    """The authorization server that knows the token does not answer, so nothing is read."""

    status, code = 503, "authorization_server_unavailable"
    remedy = "Try again later."


class DisclosureLogUnavailable(ServerTrouble):
    """Nothing is read while its disclosure cannot be logged."""

    status, code = 503, "disclosure_log_unavailable"
    remedy = "The owner must free disk space, or let the server write to the folder `activity` of its home."
    retry_after_seconds = 5


class DatabaseUnavailable(ServerTrouble):
    """The database that this server keeps everything in cannot be used at the moment, so nothing is read."""

    status, code = 503, "database_unavailable"
    remedy = "Try again in a few seconds; the server goes on by itself."
    retry_after_seconds = 5


class IngestStorageError(ServerTrouble):
    """Nothing of the batch was stored; sending it again is safe."""

    status, code = 503, "ingest_batch_storage_error"
    retry_after_seconds = 5


class RunTerminal(ServerTrouble):
    """The collection run has ended; it takes no more records."""

    status, code = 503, "run_terminal"


class QueryTimeout(ServerTrouble):
    """The read took longer than a read may take."""

    status, code = 503, "query_timeout"
    remedy = "Narrow it: fewer streams, one connection_id, rarer words."
