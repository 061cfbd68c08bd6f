"""The lease of the flat: a long contract, bound with its schedule first, so that what matters stands deep inside."""

from collections.abc import Iterator
from pathlib import Path

AGREEMENT = Path(__file__).with_name("lease.md")
ROOMS = {
    "Hall": "front door; door bell; coat rail; mirror; meter cupboard; floor boards; skirting; lamp; smoke alarm",
    "Kitchen": "worktop; sink; tap; induction hob; oven; extractor; refrigerator; dishwasher; upper cupboards; lower "
    "cupboards; drawer runners; wall tiles; window; window sill; radiator; floor tiles; socket strip",
    "Living room": "balcony door; large window; small window; shutters; parquet; skirting; left wall; right wall; "
    "ceiling; stove pipe cover; radiator under the window; radiator by the door; built-in shelf; picture rail; light "
    "switch; aerial socket",
    "Bedroom": "wardrobe; wardrobe door; window; blind; parquet; radiator; ceiling; wall by the bed; light switch",
    "Study": "desk top on the wall; shelf; window; window catch; parquet; radiator; ceiling; north wall; network",
    "Bathroom": "bath; shower screen; mixer tap; basin; cabinet; mirror; lavatory; extractor fan; wall tiles; floor "
    "tiles; towel radiator; washing machine connection; sealing around the bath; door lock",
    "Balcony": "rail; floor; drain; wall lamp; outside socket; planter on the wall",
    "Storage room": "door; padlock; shelf; lamp; floor; vent",
}
STATES = (
    "sound and clean; no marks beyond the ordinary",
    "works; a hand's breadth of paint is missing at the lower edge, which was there when the keys were given",
    "sound; one scratch of about four centimetres, seen and noted by both parties on the day",
    "sticks a little in wet weather; the landlord has it planed before the end of the year or accepts it as it is",
    "replaced in the spring before the agreement began, with a guarantee whose paper lies in the drawer of the hall",
    "old but whole; its age is the landlord's affair and no wear of it is ever the tenant's",
    "a hair crack runs from the corner to the middle; it has not moved since it was marked in pencil in 2019",
)


def lease_text() -> str:
    return "\n\n".join([*_schedule(), AGREEMENT.read_text("utf-8")])


def _schedule() -> Iterator[str]:
    yield "# Lease Maaskade 118"
    yield "Typed out from the scan on a wet Sunday, in the order in which it is bound. The original is in the blue box."
    yield "## Schedule B: the state of the flat"
    yield "Readings on the day of the keys: electricity 48,211 kWh, heat 17.32 GJ, water 611 m³."
    number = 0
    for room, things in ROOMS.items():
        yield f"### {room}"
        for thing in things.split("; "):
            number += 1
            state, later = STATES[number % len(STATES)], STATES[number * 3 % len(STATES)]
            yield (
                f"B.{number} {room}, {thing}: {state}. At the interim visit in October 2024: {later}. "
                f"Photographs {number * 2 - 1} and {number * 2}, taken by the landlord, copies with the tenant."
            )
