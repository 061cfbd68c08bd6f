"""Pictures, recordings and other files beside the messages of a messenger: kept where they are not too large."""

from mimetypes import guess_type

from pdpp_server.importers.source import Attachment, DamagedFile, File
from pdpp_server.model.blobs import ANY_BYTES

MEDIA_BYTES_MAX = 16 * 1024 * 1024

_MESSENGER_TYPES = {"webp": "image/webp", "opus": "audio/ogg", "ogg": "audio/ogg", "tgs": "application/x-tgsticker",
                    "vcf": "text/vcard", "heic": "image/heic", "m4a": "audio/mp4"}  # fmt: skip


def media_type(name: str) -> str:
    """By the ending of its name, the same on every machine for what messengers send."""
    return _MESSENGER_TYPES.get(name.rpartition(".")[2].lower()) or guess_type(name)[0] or ANY_BYTES


def attached(file: File | None, stream: str, key: str) -> Attachment | str | None:
    """The file as a blob of that record, or why it is left out; None where there is no file."""
    if file is None or not file.size:
        return None
    if file.size > MEDIA_BYTES_MAX:
        return f"{file.name} is larger than {MEDIA_BYTES_MAX >> 20} MiB and was left out; the message is kept"
    try:
        with file.open() as opened:
            data = opened.read(MEDIA_BYTES_MAX)
    except DamagedFile:
        return f"{file.name} cannot be read and was left out; the message is kept"
    return Attachment(stream, key, data, media_type(file.name)) if data else None
