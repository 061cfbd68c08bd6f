"""How long the tutorial takes a person until the first answer: `python -m tools.tutorial_pace`."""

import re
import socket
import tempfile
import time
from pathlib import Path

from tests.contracts.test_tutorial import PAGES, Reader, Step, steps

TYPED_A_SECOND = 3  # characters: 36 words a minute, with a look at the page
READ_A_SECOND = 3.5  # words of the pages
CLICK_SECONDS = 4
# To the page, the password, two boxes, the review, the yes; before that Claude Code is started and told to connect.
CONSENT_CLICKS, CONSENT_CHARS = 6, len("claude") + len("/mcp") + 24
QUESTION = "When do I get my deposit for Maaskade 118 back, and has it come?"
PASSWORD_CHARS = 24


def typing(step: Step) -> float:
    match step.mark:
        case "password":
            chars = len(step.what) + 2 * PASSWORD_CHARS
        case "consent":
            return CONSENT_CHARS / TYPED_A_SECOND + CONSENT_CLICKS * CLICK_SECONDS
        case "asked":
            chars = len(QUESTION)
        case _:
            chars = len(step.what)
    return chars / TYPED_A_SECOND


def main() -> None:
    walked = steps()
    first = next(number for number, step in enumerate(walked) if step.mark == "asked")
    pages = [page.read_text("utf-8") for page in PAGES[:3]]
    pages[2] = pages[2].partition("```text")[0]
    words = sum(len(re.sub(r"(?s)```.*?```|<!--.*?-->", "", page).split()) for page in pages)
    typed = sum(typing(step) for step in walked[: first + 1])
    with tempfile.TemporaryDirectory(prefix="pdpp-tutorial-") as folder, socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
        free.close()
        reader = Reader(Path(folder), port)
        begun = time.perf_counter()
        try:
            for step in walked[: first + 1]:
                reader.do(step)
        finally:
            reader.close()
        ran = time.perf_counter() - begun
    read = words / READ_A_SECOND
    total = typed + read + ran
    print(f"{total / 60:.1f} minutes to a first answer:")
    print(f"{typed:.0f} s typed and clicked, {read:.0f} s read ({words} words),")
    print(f"{ran:.0f} s waited for commands. Installing is not in it: that is the network's.")


if __name__ == "__main__":
    main()
