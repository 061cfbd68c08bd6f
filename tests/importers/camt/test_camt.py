"""camt.053: batches, references that are none, statements that overlap, and XML that means harm."""

import pytest

from pdpp_server.importers.formats import xml_items
from pdpp_server.importers.sources.camt import CAMT
from tests.importers.reading import files_of, records, rejections
from tests.requirements import requirement

BANK = b"<Svcr><FinInstnId><BICFI>HARBDEFFXXX</BICFI></FinInstnId></Svcr>"  # by which files belong together
ACCOUNT = b"<Acct><Id><IBAN>DE89370400440532013000</IBAN></Id><Ccy>EUR</Ccy>" + BANK + b"</Acct>"


def document(*entries: bytes, version: bytes = b"08", before: bytes = b"") -> bytes:
    begin = b'<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.' + version + b'"><BkToCstmrStmt><Stmt>'
    return before + begin + ACCOUNT + b"\n".join(entries) + b"</Stmt></BkToCstmrStmt></Document>"


def entry(amount: bytes = b"1.00", more: bytes = b"", mark: bytes = b"DBIT") -> bytes:
    marked = b"<CdtDbtInd>" + mark + b"</CdtDbtInd><BookgDt><Dt>2026-03-02</Dt></BookgDt>"
    return b'<Ntry><Amt Ccy="EUR">' + amount + b"</Amt>" + marked + more + b"</Ntry>"


def keys(*documents: bytes) -> list[str]:
    return [data["id"] for data in records(CAMT, "transactions", *documents)]


@requirement("imp.bank.once")
@pytest.mark.parametrize("reference", [b"", b"NONREF", b"notprovided"])
def test_bookings_without_a_reference_are_counted_in_each_statement(reference: bytes) -> None:
    told = entry(more=b"<AcctSvcrRef>" + reference + b"</AcctSvcrRef>")
    day, month = document(told, told), document(told, told, told)
    assert len(set(keys(day))) == 2
    assert keys(month)[:2] == keys(day)
    assert len(set(keys(day, month))) == 3


@requirement("imp.bank.once")
def test_the_reference_of_the_bank_is_the_key_unless_another_booking_has_it() -> None:
    reference = b"<AcctSvcrRef>R1</AcctSvcrRef>"
    found = keys(document(entry(more=reference), entry(more=reference)), document(entry(b"2.00", reference)))
    assert [one.partition(":")[2].partition("~")[0] for one in found] == ["R1", "R1"]


@requirement("imp.bank.batches")
def test_the_payments_of_a_batch_are_told_apart_from_the_booking_that_holds_them() -> None:
    amount = b'<AmtDtls><TxAmt><Amt Ccy="EUR">4.00</Amt></TxAmt></AmtDtls>'
    one = b"<TxDtls>" + amount + b"<RltdPties><Cdtr><Nm>A</Nm></Cdtr></RltdPties></TxDtls>"
    two = one.replace(b"4.00", b"6.00").replace(b"<Nm>A", b"<Nm>B")
    batch = document(entry(b"10.00", b"<NtryDtls>" + one + two + b"</NtryDtls>"))
    (booking,) = records(CAMT, "transactions", batch)
    payments = records(CAMT, "batch_payments", batch)
    assert (booking["amount"], booking["detail_count"]) == (-10, 2)
    assert [(data["amount"], data["counterparty"]) for data in payments] == [(-4, "A"), (-6, "B")]
    assert {data["transaction_id"] for data in payments} == {booking["id"]}


@requirement("imp.bank.batches")
@pytest.mark.parametrize(("mark", "name"), [(b"DBIT", "Creditor"), (b"CRDT", "Debtor")])
def test_the_other_side_is_who_was_paid_or_who_paid(mark: bytes, name: str) -> None:
    parties = b"<RltdPties><Dbtr><Pty><Nm>Debtor</Nm></Pty></Dbtr><Cdtr><Pty><Nm>Creditor</Nm></Pty></Cdtr></RltdPties>"
    details = b"<NtryDtls><TxDtls>" + parties + b"</TxDtls></NtryDtls>"
    assert records(CAMT, "transactions", document(entry(more=details, mark=mark)))[0]["counterparty"] == name


@requirement("imp.files.safe-xml")
@pytest.mark.parametrize(
    "before",
    [
        b'<!DOCTYPE a [<!ENTITY x "y">]>',
        b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]>',
        b'<!DOCTYPE a SYSTEM "http://127.0.0.1/a.dtd">',
        b'<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>',
    ],
)
def test_a_document_that_declares_anything_is_refused(before: bytes) -> None:
    harmful = document(entry(), before=before)
    assert records(CAMT, "transactions", harmful) == []
    assert rejections(CAMT, harmful) == [("export 1:1", "it declares a document type, which no statement does")]


@requirement("imp.files.safe-xml", "imp.files.damaged")
@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (b"<a>" * 200, "nested deeper than 64 levels"),
        (b"<a>" + b"x" * 9000 + b"</a>", "one part of it is longer than 0 MiB"),
        (b"<a></b>", "not XML from here on"),
        (b"&lt;&unknown;", "not XML from here on"),
        (b"\xff\xfe", "not XML from here on"),
    ],
)
def test_what_came_before_the_trouble_is_kept(broken: bytes, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_items, "ITEM_BYTES_MAX", 8000)
    damaged = document(entry(), b"<Ntry>" + broken + entry())
    assert len(records(CAMT, "transactions", damaged)) == 1
    ((place, reason),) = rejections(CAMT, damaged)
    assert place == "export 1:2"
    assert reason.startswith(said)


@requirement("imp.files.recognised")
@pytest.mark.parametrize("version", [b"02", b"04", b"06", b"08", b"13"])
def test_every_version_is_read(version: bytes) -> None:
    assert len(keys(document(entry(), version=version))) == 1


@requirement("imp.files.recognised")
@pytest.mark.parametrize(
    ("number", "message", "part"), [(b"052", b"AcctRpt", b"Rpt"), (b"054", b"DbtCdtNtfctn", b"Ntfctn")]
)
def test_a_report_and_a_notice_are_read_as_a_statement_is(number: bytes, message: bytes, part: bytes) -> None:
    statement = document(entry(more=b"<AcctSvcrRef>R1</AcctSvcrRef>"))
    other = statement.replace(b"camt.053", b"camt." + number).replace(b"CstmrStmt", b"Cstmr" + message)
    other = other.replace(b"<Stmt>", b"<" + part + b">").replace(b"</Stmt>", b"</" + part + b">")
    assert keys(other) == keys(statement)
    assert len(keys(statement, other)) == 1


@requirement("imp.files.wrong-kind")
def test_files_without_a_name_of_the_bank_belong_together_by_its_number() -> None:
    nameless, another = document(entry()).replace(BANK, b""), document(entry(b"2.00")).replace(BANK, b"")
    assert [found.name for found in CAMT.recognise(files_of(nameless, another))] == ["DE37040"]
    dutch = nameless.replace(b"DE89370400440532013000", b"NL91ABNA0417164300")
    unnumbered = nameless.replace(b"<IBAN>DE89370400440532013000</IBAN>", b"<Othr><Id>5</Id></Othr>")
    assert [found.name for found in CAMT.recognise(files_of(dutch, unnumbered))] == ["NLABNA", "export 2"]


@requirement("imp.files.recognised")
def test_other_xml_is_left_alone() -> None:
    schema = (
        b'<?xml version="1.0"?><xs:schema xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02" '
        b'targetNamespace="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><xs:element name="Document"/></xs:schema>'
    )
    assert list(CAMT.recognise(files_of(b"<Document><Other/></Document>", b"<html></html>", schema))) == []
