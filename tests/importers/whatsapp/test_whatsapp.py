"""WhatsApp: how phones write times, what stands for a file, and keys that outlive the next export."""

import io

import pytest

from pdpp_server.importers.source import DamagedFile, File, Files, Outcome
from pdpp_server.importers.sources.whatsapp import WHATSAPP
from tests.importers.exports import export_of, read_export, reasons_of, records_of
from tests.importers.reading import ZONE
from tests.requirements import requirement

NAME = "WhatsApp Chat with Club.txt"


def outcomes(text: str, **media: bytes) -> list[Outcome]:
    beside = {name.replace("__", "."): data for name, data in media.items()}
    return read_export(WHATSAPP, export_of({NAME: text.encode(), **beside}))


def messages(text: str) -> list[dict[str, object]]:
    return records_of(outcomes(text), "messages")


def note_of(text: str) -> str:
    (account,) = WHATSAPP.recognise(export_of({NAME: text.encode()}))
    return account.notes[0]


@requirement("imp.whatsapp.phones")
@pytest.mark.parametrize(
    ("line", "sent_at"),
    [
        ("28/02/2026, 21:05 - Ann: Hi", "2026-02-28T20:05:00.000Z"),
        ("28.02.26, 21:05 - Ann: Hi", "2026-02-28T20:05:00.000Z"),
        ("28/02/2026 21:05 - Ann: Hi", "2026-02-28T20:05:00.000Z"),
        ("28/02/26, 9:05 pm - Ann: Hi", "2026-02-28T20:05:00.000Z"),
        ("2/28/26, 9:05\u202fPM - Ann: Hi", "2026-02-28T20:05:00.000Z"),
        ("28/2/2026, 9:05 p. m. - Ann: Hi", "2026-02-28T20:05:00.000Z"),
        ("2026-02-28, 21:05 - Ann: Hi", "2026-02-28T20:05:00.000Z"),
        ("2026/2/28 下午9:05 - Ann: Hi", "2026-02-28T20:05:00.000Z"),
        ("[28/02/2026, 21:05:09] Ann: Hi", "2026-02-28T20:05:09.000Z"),
        ("\u200e[28.02.26, 21:05:09] Ann: Hi", "2026-02-28T20:05:09.000Z"),
        ("[2/28/26, 9:05:09\u202fPM] Ann: Hi", "2026-02-28T20:05:09.000Z"),
        ("[28.2.2026 klo 21.05.09] Ann: Hi", "2026-02-28T20:05:09.000Z"),
        ("\u200f[28\u200f/2\u200f/2026, 21:05:09] Ann: Hi", "2026-02-28T20:05:09.000Z"),
        ("[\u0662\u0668/2/2026, 21:05:09] Ann: Hi", "2026-02-28T20:05:09.000Z"),
        ("28\u200f/2\u200f/2026\u060c 9:05 \u0645 - Ann: Hi", "2026-02-28T20:05:00.000Z"),  # Arabic
        ("\u200f[\u0662\u0668/\u0660\u0662/\u0662\u0660\u0662\u0666\u060c \u0669:\u0660\u0665:\u0660\u0669 \u0635] Ann: Hi", "2026-02-28T08:05:09.000Z"),
        ("21:05, 28/02/2026 - Ann: Hi", "2026-02-28T20:05:00.000Z"),  # Vietnamese
        ("[21:05:09, 28/2/2026] Ann: Hi", "2026-02-28T20:05:09.000Z"),
        ("l\u00fac 9:05 CH, 28/02/2026 - Ann: Hi", "2026-02-28T20:05:00.000Z"),
        ("2026/2/28 午後9:05 - Ann: Hi", "2026-02-28T20:05:00.000Z"),  # Japanese
        ("[28/2/2569 BE 21:05:09] Ann: Hi", "2026-02-28T20:05:09.000Z"),  # Thai
        ("28/2/69 21:05 - Ann: Hi", "2026-02-28T20:05:00.000Z"),
        ("28.02.26 г., 21:05 ч. - Ann: Hi", "2026-02-28T20:05:00.000Z"),  # Bulgarian
    ],
)
def test_times_of_many_phones_are_read(line: str, sent_at: str) -> None:
    found = [(data["sent_at"], data["sender"], data["text"]) for data in messages(f"{line}\n{line}\n")]
    assert found[:1] == [(sent_at, "Ann", "Hi")]


@requirement("imp.whatsapp.phones")
def test_lines_of_a_message_belong_to_it_and_notes_have_no_sender() -> None:
    text = "28/02/2026, 21:05 - Ann: one\n\n12:30 - two\nBo: three\n28/02/2026, 21:06 - Ann left\n"
    assert [(data.get("sender"), data["kind"], data["text"]) for data in messages(text)] == [
        ("Ann", "message", "one\n\n12:30 - two\nBo: three"),
        (None, "system", "Ann left"),
    ]


@requirement("imp.whatsapp.phones")
@pytest.mark.parametrize(
    "note",
    ['Ann changed the group name from "Sea: 1" to "Sea: 2"', "Ann hat den Namen von „Sea: 1“ zu „Sea: 2“ geändert"],
)
def test_a_colon_inside_a_quotation_makes_nobody_a_sender(note: str) -> None:
    (first, second) = messages(f"28/02/2026, 21:05 - {note}\n28/02/2026, 21:06 - Ann: „Sea: 3“\n")
    assert (first.get("sender"), first["kind"], first["text"]) == (None, "system", note)
    assert (second["sender"], second["text"]) == ("Ann", "„Sea: 3“")


@requirement("imp.whatsapp.dates")
def test_a_year_of_another_calendar_is_no_date() -> None:
    assert reasons_of(outcomes("1404/12/9, 21:05 - Ann: Hi\n1404/12/9, 21:06 - Ann: Ho\n"))[0][1].endswith("not exist")


@requirement("imp.whatsapp.phones")
def test_whoever_only_sent_what_whatsapp_wrote_for_them_took_part_and_a_group_did_not() -> None:
    stamp = "[28/02/2026, 21:05:09]"
    pair = f"{stamp} Club: \u200ecosi neznámého\n{stamp} Bo: Ahoj\n"
    group = f"{stamp} Club: \u200eYou created this group\n{stamp} Bo: Hi\n{stamp} Cy: Ho\n{stamp} Di: \u200ejoined\n"
    (two,) = records_of(outcomes(pair), "chats")
    (many,) = records_of(outcomes(group), "chats")
    assert (two["participants"], many["participants"]) == (["Bo", "Club"], ["Bo", "Cy", "Di"])


@requirement("imp.whatsapp.dates")
@pytest.mark.parametrize(
    ("dates", "first", "because"),
    [
        (["01/02/26", "13/02/26"], "2026-02-01", "day, month, year: a number above 12 can only be a day"),
        (["01/02/26", "02/13/26"], "2026-01-02", "month, day, year: a number above 12 can only be a day"),
        (["01/02/26", "01/03/26", "01/04/26", "02/01/26"], "2026-01-02", "month, day, year: so the dates follow"),
        (["01/02/26", "02/02/26", "01/03/26"], "2026-02-01", "day, month, year: so the dates follow each other"),
        (["01/02/26"], "2026-02-01", "day, month, year: nothing in it tells day from month"),
    ],
)
def test_the_whole_file_decides_which_number_is_the_day(dates: list[str], first: str, because: str) -> None:
    text = "".join(f"{date}, 12:00 - Ann: Hi\n{date}, 12:01 - Bo: Hi\n" for date in dates)
    assert str(messages(text)[0]["sent_at"])[:10] == first
    assert because in note_of(text)


@requirement("imp.whatsapp.dates")
def test_where_nothing_decides_an_american_clock_does_and_doubt_is_told() -> None:
    text = "1/2/26, 9:05\u202fPM - Ann: Hi\n1/2/26, 9:06\u202fPM - Bo: Hi\n"
    assert str(messages(text)[0]["sent_at"])[:10] == "2026-01-02"
    assert note_of(text).endswith("Check a message whose date you know.")


@requirement("imp.whatsapp.longer")
def test_a_longer_export_has_the_same_keys_even_if_its_dates_are_read_another_way() -> None:
    short = "01/02/26, 12:00 - Ann: Ok\n01/02/26, 12:00 - Ann: Ok\n"
    longer = short + "01/02/26, 12:00 - Ann: Ok\n02/13/26, 12:00 - Bo: Hi\n"
    before, after = messages(short), messages(longer)
    assert [data["id"] for data in after[:2]] == [data["id"] for data in before]
    assert len({data["id"] for data in after}) == 4
    assert before[0]["sent_at"] != after[0]["sent_at"]


@requirement("imp.whatsapp.longer", "imp.files.attachments")
def test_a_message_has_the_same_key_with_and_without_its_file() -> None:
    head = "28/02/2026, 21:05 - Ann: "
    with_file = outcomes(f"{head}a.jpg (file attached)\nSea\n{head}Hi\n", a__jpg=b"picture")
    without = outcomes(f"{head}<Media omitted>\n{head}Hi\n")
    first, second = (records_of(one, "messages")[0] for one in (with_file, without))
    assert first["id"] == second["id"]
    assert (first["media"]["size_bytes"], first["text"], "media" in second) == (7, "Sea", False)


@requirement("imp.files.attachments", "imp.files.rejected")
def test_a_file_that_is_too_large_is_told_and_its_message_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pdpp_server.importers.formats.media.MEDIA_BYTES_MAX", 3)
    read = outcomes("28/02/2026, 21:05 - Ann: a.jpg (file attached)\n28/02/2026, 21:06 - Bo: Hi\n", a__jpg=b"picture")
    assert [place for place, _ in reasons_of(read)] == [f"{NAME}:1"]
    assert len(records_of(read, "messages")) == 2


@requirement("imp.whatsapp.phones")
@pytest.mark.parametrize(
    ("file", "export", "chat"),
    [
        ("WhatsApp Chat with Ann Lee.txt", "downloads", "Ann Lee"),
        ("WhatsApp-Chat mit Ann Lee (2).txt", "downloads", "Ann Lee"),
        ("Chat de WhatsApp con Ann Lee.txt", "downloads", "Ann Lee"),
        ("Chat WhatsApp s uživatelem Ann Lee.txt", "downloads", "Ann Lee"),
        ("Чат WhatsApp с контактом Ann Lee.txt", "downloads", "Ann Lee"),
        ("Бесіда WhatsApp з Ann Lee.txt", "downloads", "Ann Lee"),
        ("แชท WhatsApp กับ Ann Lee.txt", "downloads", "Ann Lee"),
        ("Ann LeeとのWhatsAppチャット.txt", "downloads", "Ann Lee"),
        ("Ann Lee के साथ WhatsApp चैट.txt", "downloads", "Ann Lee"),
        ("_chat.txt", "WhatsApp Chat - Ann Lee.zip", "Ann Lee"),
        ("_chat.txt", "archive.zip", "Ann"),
        ("notes.txt", "notes.txt", "Ann"),
    ],
)
def test_a_chat_is_called_as_the_phone_called_it(file: str, export: str, chat: str) -> None:
    stamp = "[28/02/2026, 21:05:09]"
    text = f"{stamp} Ann: \u200eMessages and calls are end-to-end encrypted.\n{stamp} Bo: Hi\n"
    (data,) = records_of(read_export(WHATSAPP, export_of({file: text.encode()}, export)), "chats")
    assert data["name"] == chat


@requirement("imp.files.wrong-kind")
@pytest.mark.parametrize(
    "text",
    ["", "Dear diary\n", "[2026-02-28 21:05] Ann: Hi\n[2026-02-28, 21:06] Me: Ho\n", "2026-03-01 10:00:00 - INFO: started\n2026-03-01 10:00:01 - INFO: done\n", "1.2.3, 4\n"],
)
def test_a_text_that_is_no_chat_is_left_alone(text: str) -> None:
    assert list(WHATSAPP.recognise(export_of({"a.txt": text.encode()}))) == []


@requirement("imp.files.damaged")
def test_a_chat_in_a_damaged_zip_is_named_and_what_is_whole_is_kept() -> None:
    whole = b"28/02/2026, 21:05 - Ann: Hi\n" * 301

    class Torn(io.RawIOBase):
        is_read = False

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: memoryview, /) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
            if self.is_read:
                raise DamagedFile("a.txt cannot be read to its end (bad CRC).")
            self.is_read = True
            buffer[: len(whole)] = whole
            return len(whole)

    file = File("a.txt", 2 * len(whole), lambda: io.BufferedReader(Torn(), 2 * len(whole)))
    read = read_export(WHATSAPP, Files("a.zip", {"a.txt": file}, ZONE))
    assert len(records_of(read, "messages")) == 300  # of the last line nobody knows whether more of it was to come
    assert reasons_of(read) == [("a.txt", "a.txt cannot be read to its end (bad CRC).")]
