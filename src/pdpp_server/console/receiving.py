"""Files that a form sends, written to disk as they arrive: bounded, and all of them or nothing."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import BinaryIO

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from pdpp_server.console.visit import Visit, unreadable_form
from pdpp_server.errors import IngestStorageError, InvalidRequest, TooLarge
from pdpp_server.evidence.said import say
from pdpp_server.evidence.words import size_text
from pdpp_server.http.threads import Threads
from pdpp_server.importers.upload_board import ID
from pdpp_server.importers.uploads import Uploads

FORM_TYPE = b"multipart/form-data"
FILES_MAX, FIELD_BYTES = 500, 4096
AT_ONCE_BYTES = 1024 * 1024


class Received:
    """One form, part by part. What it says comes before its files, so that no byte is kept for a form of a stranger."""

    def __init__(self, boundary: bytes, visit: Visit, uploads: Uploads, most: int) -> None:
        self._visit, self._uploads, self._most = visit, uploads, most
        self.id, self.is_known, self.files = "", False, 0
        self._size = 0
        self._fields: list[tuple[str, str]] = []
        self._header, self._headers = b"", dict[bytes, bytes]()
        self._name, self._said = "", b""
        self._file: BinaryIO | None = None
        self._is_skipped = False
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": lambda data, start, end: self._take_header(data[start:end]),
                "on_header_value": lambda data, start, end: self._take_header_value(data[start:end]),
                "on_header_end": self._end_header,
                "on_headers_finished": self._open,
                "on_part_data": lambda data, start, end: self._take(data[start:end]),
                "on_part_end": self._close,
            },
        )

    def feed(self, data: bytes) -> None:
        self._size += len(data)
        require_size(self._size, self._most)
        if self.is_known:  # the same form once more: what it brought is here
            return
        try:
            self._parser.write(data)
        except FormParserError:
            raise unreadable_form() from None
        except OSError as error:
            raise IngestStorageError(say("The files cannot be written: {reason}.", reason=error.strerror)) from None

    def finish(self) -> None:
        """Raises: InvalidRequest, where the form broke off or brought no file."""
        if self.is_known:
            return
        try:
            self._parser.finalize()
        except FormParserError:
            raise InvalidRequest(say("The files did not arrive whole."), remedy=say("Choose them again.")) from None
        if self._file is not None:
            raise InvalidRequest(say("The files did not arrive whole."), remedy=say("Choose them again."))
        if not self.files:
            raise InvalidRequest(say("No file was chosen."), remedy=say("Go back, and choose one."))
        self._uploads.arrived(self.id)

    def drop(self) -> None:
        """Nothing of it stays."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
        if self.id and not self.is_known:
            self._uploads.give_up(self.id)

    # one part

    def _begin(self) -> None:
        self._headers, self._header, self._said = {}, b"", b""

    def _take_header(self, data: bytes) -> None:
        self._header += data

    def _take_header_value(self, data: bytes) -> None:
        name = self._header.lower()
        self._headers[name] = self._headers.get(name, b"") + data

    def _end_header(self) -> None:
        self._header = b""

    def _open(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition"))
        self._name = options.get(b"name", b"").decode("utf-8", "replace")
        if b"filename" not in options:
            return
        name = options[b"filename"].decode("utf-8", "replace")
        self._is_skipped = not name  # nothing was chosen in that field
        if self._is_skipped:
            return
        self._admit()
        self.files += 1
        if self.files > FILES_MAX:
            raise TooLarge(say("At most {most} files at once.", most=FILES_MAX), remedy=say("Put them into a zip."))
        if not self.is_known:
            self._file = self._uploads.place(self.id, name).open("xb")

    def _admit(self) -> None:
        """Before the first file: whose form it is, and what it is called here."""
        if self.id:
            return
        form = tuple(self._fields)
        replace(self._visit, form=form).require_own_form()
        wanted = dict(form).get("upload", "")
        if not ID.fullmatch(wanted):
            raise unreadable_form()
        self.id, self.is_known = wanted, not self._uploads.begin(wanted)

    def _take(self, data: bytes) -> None:
        if self._file is not None:
            self._file.write(data)
        elif not self._is_skipped and not self.is_known:
            self._said += data
            if len(self._said) > FIELD_BYTES:
                raise unreadable_form()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        elif not self._is_skipped and not self.id:
            self._fields.append((self._name, self._said.decode("utf-8", "replace")))
        self._is_skipped = False


async def received(request: Request, visit: Visit, uploads: Uploads, most: int, threads: Threads) -> str:
    """The id of what arrived; whoever sends the same form twice gets the first.

    Raises:
        TooLarge: there is more than we take, or than the disk has room for.
        InvalidRequest: it is no such form, or it broke off.
    """
    kind, options = parse_options_header(request.headers.get("content-type"))
    told = request.headers.get("content-length", "")
    if kind != FORM_TYPE or not options.get(b"boundary"):
        raise InvalidRequest(
            say("No files came with this form."), remedy=say("Open the page again and choose them there.")
        )
    require_size(int(told) if told.isdigit() else 0, most)
    uploads.require_room(int(told) if told.isdigit() else 0)
    form = Received(options[b"boundary"], visit, uploads, most)
    try:
        await _pour(request, form.feed, threads)
        await threads.flow(form.finish)
    except ClientDisconnect:
        form.drop()
        raise InvalidRequest(say("The files did not arrive whole."), remedy=say("Choose them again.")) from None
    except BaseException:
        form.drop()
        raise
    return form.id


async def _pour(request: Request, feed: Callable[[bytes], None], threads: Threads) -> None:
    """By the megabyte, away from the loop: a disk may be slow."""
    waiting = bytearray()
    async for chunk in request.stream():
        waiting += chunk
        if len(waiting) >= AT_ONCE_BYTES:
            await threads.flow(lambda data=bytes(waiting): feed(data))
            waiting.clear()
    await threads.flow(lambda: feed(bytes(waiting)))


def require_size(size: int, most: int) -> None:
    if size > most:
        raise TooLarge(
            say(
                "These files have more than {most}, which is the most that a page takes (PDPP_UPLOAD_BYTES).",
                most=size_text(most),
            ),
            remedy=say(
                "Use `pdpp import FILE`, or put them into the folder `inbox` of this home: neither has a limit."
            ),
        )
