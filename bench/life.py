"""Forty questions about the sample life, each with the record that answers it: is it found, and can the answer be read?

`python -m bench.life` prints the numbers; nothing of it may get worse.
"""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from bench.evidence import compact, plain, strings_of
from bench.world import now
from pdpp_server.cli.life.everyday import HOME
from pdpp_server.cli.life.exports import write_life
from pdpp_server.importers.registry import IMPORTERS, look_into
from pdpp_server.importers.run import import_account
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.mcp.tool import ToolResult
from pdpp_server.model.sources import Declaration
from pdpp_server.owner.desk import Owner
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import Services, open_services
from pdpp_server.wire.grants import DETAIL_TYPE, decode_selection
from tests.worlds.told import told

Search = Callable[[str], ToolResult]


class LifeQuestion(NamedTuple):
    """A question, the stream of the record that answers it, and words of that record which are the answer."""

    text: str
    stream: str
    answer: str


QUESTIONS = (
    # The lease
    LifeQuestion("What is the rent of the flat in the Maaskade a month?", "mail/messages", "€ 1,325 a month"),
    LifeQuestion("How large was the deposit that the landlord asked for?", "mail/messages", "two months as a deposit"),
    LifeQuestion("Who wrote the contract of the flat?", "mail/messages", "because my father wrote it"),
    LifeQuestion("Where in the contract is the break option?", "mail/messages", "after all the lamps and tiles"),
    LifeQuestion("deposit Maaskade paid", "ofx/transactions", "Deposit Maaskade 118"),
    LifeQuestion("How many keys to the storage room?", "markdown/notes", "one to the storage room"),
    LifeQuestion("heat meter reading GJ", "markdown/notes", "Heat 17.32 GJ"),
    LifeQuestion("signed for 36 months until when?", "telegram/messages", "until September 2026"),
    LifeQuestion("must the break option be a letter?", "telegram/messages", "it must be a LETTER, registered"),
    LifeQuestion("registered letter went to the post, agreement ends when?", "mail/messages", "ends on 31 March 2026"),
    LifeQuestion("When does the deposit come back?", "mail/messages", "within 30 days after the keys"),
    LifeQuestion("half a month for the break option payment", "ofx/transactions", "clause 27.4"),
    LifeQuestion("deposit returned", "ofx/transactions", "Deposit Maaskade 118 returned"),
    LifeQuestion("hand over the keys: what to take?", "calendar/events", "Take Schedule B and photographs"),
    # The journey
    LifeQuestion(
        "Who proposed to see the northern lights?", "telegram/messages", "what if we just went to see the northern"
    ),
    LifeQuestion("When does the flight to Tromsø leave?", "mail/messages", "Amsterdam 09:55, Tromsø 13:20"),
    LifeQuestion("How heavy may a bag be with Hurtig Air?", "mail/messages", "One bag of 20 kg each"),
    LifeQuestion("TRM-7Q4K payment", "ofx/transactions", "Amsterdam Tromsø 2 persons"),
    LifeQuestion("nights in the guesthouse Fjellheim", "ofx/transactions", "8 nights Tromsø"),
    LifeQuestion("night bus to the airport", "calendar/events", "there is no 02:30"),
    LifeQuestion("Where does the night bus leave?", "calendar/events", "Prostneset"),
    LifeQuestion("What to pack for Tromsø: wool, torch?", "markdown/notes", "head torch with red light"),
    LifeQuestion("boat to the whales", "markdown/notes", "on the 25th if the wind allows"),
    LifeQuestion("Which photograph does Yael want of the reindeer?", "markdown/notes", "looks like her uncle"),
    LifeQuestion("Who cried when the sky was green?", "telegram/messages", "Sam cried"),
    LifeQuestion("bus at 02:30 when clocks change: does it leave?", "telegram/messages", "does it leave at all?"),
    LifeQuestion("What did the driver say?", "telegram/messages", "he goes by the sun"),
    LifeQuestion("nearly missed the flight because of an hour", "slack/messages", "an hour that does not exist"),
    LifeQuestion("Den Helder two values for the same minute", "slack/messages", "02:30 again"),
    # The change of work
    LifeQuestion("What does Northlight Instruments build?", "mail/messages", "We build tide gauges"),
    LifeQuestion("How large is the team at Northlight?", "mail/messages", "a team of five"),
    LifeQuestion("When is Nora free to talk to Grace?", "mail/messages", "free on Thursday after five"),
    LifeQuestion("offer in kronor compare salary Gothenburg", "chatgpt/messages", "52,000 kronor in Gothenburg"),
    LifeQuestion("Northlight or Tidewater: what does Sam say?", "markdown/notes", "studios have wheels"),
    LifeQuestion("head of instrument software salary a month", "mail/messages", "53,500 kronor a month"),
    LifeQuestion("Jag kommer hem", "telegram/messages", "Northlight, från april"),
    LifeQuestion("To whom does the Eems overview go?", "mail/messages", "the Eems overview to Priya"),
    LifeQuestion("Who takes over the datum code?", "slack/messages", "Farid takes over the datum code"),
    LifeQuestion("Who wants my place in the Zwaan?", "slack/messages", "I move to Gothenburg on Tuesday"),
    LifeQuestion("first day at Northlight Instruments: where?", "calendar/events", "Lindholmen, Gothenburg"),
)


def life() -> dict[str, float]:
    """All sources of the life in one home, under one grant for each, as one package."""
    home = Path(tempfile.mkdtemp(prefix="pdpp-bench-"))
    services = open_services(home, now=now)
    try:
        reader = LocalReader(services, _package(services, home))
        tool = next(tool for tool in TOOLS if tool.name == "search")
        return measured(lambda text: told(tool.call(reader, {"query": text})), QUESTIONS)
    finally:
        services.close()
        shutil.rmtree(home)


def measured(search: Search, questions: Sequence[LifeQuestion]) -> dict[str, float]:
    answers = [(asked, search(asked.text)) for asked in questions]
    return {
        "life.text": mean(_is_read(asked, result.text) for asked, result in answers),
        "life.structured": mean(_stands(asked, result) for asked, result in answers),
        "life.text_bytes": mean(len(result.text.encode()) for _, result in answers),
        "life.structured_bytes": mean(len(compact(result.structured).encode()) for _, result in answers),
    }


def _is_read(asked: LifeQuestion, text: str) -> bool:
    """Whether the answer stands on the line of a record of the right kind."""
    lines = (line for line in text.split("\n") if _is_of(asked, line.split(" ")[0]))
    return any(asked.answer in plain(line) for line in lines)


def _stands(asked: LifeQuestion, result: ToolResult) -> bool:
    hits = zip(result.structured["results"], result.structured["data"]["data"], strict=True)
    mine = (hit for named, hit in hits if _is_of(asked, named["id"]))
    return any(asked.answer in plain("\n".join(strings_of(hit))) for hit in mine)


def _is_of(asked: LifeQuestion, handle: str) -> bool:
    connector, stream = asked.stream.split("/")
    return handle.startswith(f"{connector}-") and f"/{stream}:" in handle


def _package(services: Services, home: Path) -> str:
    owner = Owner(services, home)
    held: dict[str, list[str]] = {}
    declared: dict[str, Declaration] = {}
    with tempfile.TemporaryDirectory() as folder:
        exports = Path(folder) / "life"
        write_life(exports)
        for one in look_into(exports, HOME, None, IMPORTERS).found:
            writer = owner.writer(one.declaration, one.account.name)
            import_account(one, writer, lambda _read, _tally: None)
            held.setdefault(one.declaration.source.id, []).append(writer.connection_id)
            declared[one.declaration.source.id] = one.declaration
    details = [
        {
            "type": DETAIL_TYPE,
            "source": {"id": source},
            "purpose_code": "https://pdpp.dev/purpose/research",
            "access_mode": "continuous",
            "streams": [{"name": name, "instance_ids": ids} for name in declared[source].streams],
        }
        for source, ids in held.items()
    ]
    return owner.create_grant(decode_selection(details), "bench", None).token


if __name__ == "__main__":
    for key, value in life().items():
        print(f"{key:40} {value:,.3f}")
