"""The entry of the bundle: the command, out of the package that lies beside this file."""

from pdpp_server.cli.main import main

main()
