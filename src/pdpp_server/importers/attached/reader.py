"""`python -m pdpp_server.importers.attached.reader`: documents come in, their texts go out, until no more come.

It can write no file and start no program, and has little memory and time. Whoever started it expects that these limits
end it now and then.
"""

import sys
from contextlib import suppress
from time import process_time

from pdpp_server.importers.attached.documents import document
from pdpp_server.importers.attached.frames import asked, tell
from pdpp_server.importers.attached.kinds import AttachedDocument

MEMORY_BYTES = 768 * 1024 * 1024
FILES_OPEN = 64
CPU_SECONDS = 20  # for one document

_TOO_LARGE = AttachedDocument("", "To read it would take more memory than it may have.")


def main() -> None:
    _limit()
    while (one := asked(sys.stdin.buffer)) is not None:
        _limit_time()
        try:
            told = document(*one)
        except MemoryError:
            tell(sys.stdout.buffer, _TOO_LARGE)
            return  # another one begins with all of its memory
        tell(sys.stdout.buffer, told)


if sys.platform == "win32":

    def _limit() -> None:
        """Nothing here: whoever waits has a clock."""

    def _limit_time() -> None:
        """See above."""

else:
    import resource

    def _limit() -> None:
        bounds = {
            resource.RLIMIT_AS: MEMORY_BYTES,
            resource.RLIMIT_FSIZE: 0,
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_NOFILE: FILES_OPEN,
            resource.RLIMIT_NPROC: 0,
        }
        for what, most in bounds.items():
            with suppress(OSError, ValueError):  # one that this system does not have, or has lower
                resource.setrlimit(what, (most, most))

    def _limit_time() -> None:
        """Of the processor, from now on."""
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(process_time()) + 1 + CPU_SECONDS, most))


if __name__ == "__main__":
    main()
