"""A life as the files of its exports, all in one folder, as if they had just been downloaded."""

from itertools import groupby
from pathlib import Path
from random import Random

import orjson

from pdpp_server.cli.life.chat_files import USER, chatgpt, slack, telegram
from pdpp_server.cli.life.entries import Life
from pdpp_server.cli.life.everyday import Days
from pdpp_server.cli.life.stories import stories
from pdpp_server.cli.life.text_files import calendar, markdown, mbox, ofx

SEED = 20_260_430
MAIL_FILES = {"private": "Takeout/Mail/All mail Including Spam and Trash.mbox", "work": "Tidewater mail/Archive.mbox"}
SLACK_ZIPS = {
    "work": "Tidewater Charts Slack export May 1 2023 - Mar 27 2026.zip",
    "rowing": "Maas Rowing Slack export May 1 2023 - Apr 30 2026.zip",
}


def write_life(folder: Path) -> None:
    """What is there under the same names is replaced."""
    for name, data in life_files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def life_files() -> dict[str, bytes]:
    """By name; the same bytes every time."""
    life = Life.of([*stories(), *Days(Random(SEED)).entries()])
    files: dict[str, bytes] = {}
    for account, name in MAIL_FILES.items():
        files[name] = mbox(mail for mail in life.mails if mail.account == account)
    for workspace, name in SLACK_ZIPS.items():
        files[name] = slack([post for post in life.posts if post.workspace == workspace], workspace)
    files["Takeout/Calendar/Nora.ics"] = calendar(life.events)
    for year, payments in groupby(life.payments, key=lambda payment: payment.day.year):
        files[f"Maasbank/{year}.ofx"] = ofx(list(payments))
    files["Telegram/result.json"] = telegram(life.messages)
    files["ChatGPT/user.json"] = orjson.dumps(USER)
    files["ChatGPT/conversations.json"] = chatgpt(life.talks)
    files["Commonplace/.obsidian/app.json"] = b"{}"
    for note in life.notes:
        files[f"Commonplace/{note.path}"] = markdown(note)
    return files
