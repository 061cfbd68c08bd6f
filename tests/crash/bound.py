"""Run a program that may not write: `python -m tests.crash.bound BYTES PROGRAM [ARGUMENT ...]`.

No file of it may grow beyond BYTES (`-` for any size), which is how a full disk looks; and what the mode of a file
forbids is forbidden to it, also where everything is run by root.
"""

import ctypes
import os
import resource
import sys

PR_CAPBSET_DROP = 24
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2


def main(size: str, program: str, *arguments: str) -> None:
    if size != "-":
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(size), hard))
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability)  # fails where we are nobody special, and then is no need
    os.execv(program, [program, *arguments])


if __name__ == "__main__":
    main(*sys.argv[1:])
