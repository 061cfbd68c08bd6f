"""One of several processes that answer on the same socket; `pdpp serve --workers` starts it, and nobody else."""

import os
import socket
import sys
from threading import Thread

from pdpp_server.app import create_app
from pdpp_server.cli.home import read_settings
from pdpp_server.cli.serve import quiet, server_of


def main(listening: int, parent: int, *, logs: bool) -> None:
    """Until it is asked to end, or the process that started it has ended."""
    server = server_of(create_app(read_settings()))
    if not logs:
        quiet()

    def end_with_parent() -> None:
        os.read(parent, 1)  # returns when nobody holds the other end any longer: a killed process says nothing else
        server.should_exit = True

    Thread(target=end_with_parent, name="parent", daemon=True).start()
    server.run(sockets=[socket.socket(fileno=listening)])


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), logs=sys.argv[3] == "log")
