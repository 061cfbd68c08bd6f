"""The beginning of a file, by which its kind is known."""

from pdpp_server.importers.source import DamagedFile, File


def head_of(file: File, size: int) -> bytes:
    """What can be read of it; a file that cannot be opened is nobody's."""
    try:
        with file.open() as stream:
            return stream.read(size)
    except DamagedFile:
        return b""
