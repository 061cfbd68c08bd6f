"""The strict reader of query strings."""

import pytest

from pdpp_server.errors import InvalidArgument, InvalidRequest, InvalidWindow
from pdpp_server.wire.params import ParameterRow, Params, decode_segment

STREAMS = ParameterRow("streams", "", repeats=True)


def read(raw: str) -> Params:
    return Params.parse(raw.encode("ascii"))


def test_text_is_percent_decoded_once_and_a_plus_is_a_space() -> None:
    params = read("q=a+b%2Bc%2520%C3%A9&empty=")

    assert params.text("q") == "a b+c%20é"
    assert params.text("empty") == ""
    assert params.text("absent") is None


def test_brackets_nest() -> None:
    assert read("filter[at][gte]=1&streams[]=a").pairs == ((("filter", "at", "gte"), "1"), (("streams", ""), "a"))


@pytest.mark.parametrize("raw", ["=x", "[]=x", "a[=x", "a]=x", "a[b]c=x", "a[b[c]]=x"])
def test_a_malformed_name_is_refused(raw: str) -> None:
    with pytest.raises(InvalidRequest, match="malformed name"):
        read(raw)


@pytest.mark.parametrize("raw", ["q=%", "q=%2", "q=%zz", "q=%FF", "q=%ED%A0%80", "%FF=x"])
def test_what_is_not_utf_8_is_refused(raw: str) -> None:
    with pytest.raises(InvalidRequest):
        read(raw)


def test_nesting_has_an_end() -> None:
    read("a" + "[b]" * 7 + "=1")
    with pytest.raises(InvalidRequest, match="deeper than 8"):
        read("a" + "[b]" * 8 + "=1")


@pytest.mark.parametrize("raw", ["r=1", "limit[]=1", "limit[a]=1", "streams[a]=1", "streams[][]=1", "Limit=1"])
def test_an_unknown_parameter_is_refused_by_name_with_the_valid_ones(raw: str) -> None:
    with pytest.raises(InvalidRequest, match=r"Valid: limit, streams\.") as refused:
        read(raw).only(ParameterRow("limit", ""), STREAMS)

    assert refused.value.param == raw.partition("=")[0].partition("[")[0]


def test_only_lists_may_be_repeated() -> None:
    read("streams=a&streams[]=b").only(ParameterRow("limit", ""), STREAMS)
    with pytest.raises(InvalidRequest, match="limit may be given once") as refused:
        read("limit=1&limit=1").only(ParameterRow("limit", ""), STREAMS)

    assert refused.value.param == "limit"


def test_a_list_has_at_most_64_values() -> None:
    read("&".join(["s=a"] * 64)).only(ParameterRow("s", "", repeats=True))
    with pytest.raises(InvalidRequest, match="at most 64"):
        read("&".join(["s=a"] * 65)).only(ParameterRow("s", "", repeats=True))


def test_a_list_is_the_same_with_and_without_brackets() -> None:
    assert read("s=a&s=b&s=a").texts("s") == read("s[]=a&s[]=b").texts("s") == ("a", "b")
    assert read("").texts("s") is None


def test_fields_may_be_separated_by_commas_or_repeated() -> None:
    assert read("f=a,b&f=c&f[]=a").comma_separated("f") == ("a", "b", "c")
    assert read("").comma_separated("f") is None


@pytest.mark.parametrize("raw", ["f=", "f=a,", "f=,a", "f=a&f="])
def test_an_empty_value_in_a_list_is_refused(raw: str) -> None:
    with pytest.raises(InvalidRequest, match="empty value"):
        read(raw).comma_separated("f")


def test_an_empty_stream_is_refused_and_a_comma_is_part_of_a_name() -> None:
    assert read("s=a,b").texts("s") == ("a,b",)
    with pytest.raises(InvalidRequest, match="empty value"):
        read("s=").texts("s")


@pytest.mark.parametrize(("raw", "value"), [("n=0", 0), ("n=25", 25), ("n=-3", -3), ("", None)])
def test_an_integer_is_read(raw: str, value: int | None) -> None:
    assert read(raw).whole("n", None, None) == value


@pytest.mark.parametrize(
    "raw", ["n=", "n=+5", "n=%2B5", "n=5.0", "n=1e3", "n=%205", "n=0x5", "n=%D9%A5", "n=" + "9" * 19]
)
def test_what_only_resembles_an_integer_is_refused(raw: str) -> None:
    with pytest.raises(InvalidWindow, match="n must be a whole number") as refused:
        read(raw).whole("n", None, None, InvalidWindow)

    assert refused.value.param == "n"


def test_the_alias_names_a_connection_and_warns() -> None:
    params = read("connector_instance_id=cin_a")

    assert params.connection_id() == "cin_a"
    assert [(warned.code, warned.param) for warned in params.warnings] == [
        ("deprecated_alias_used", "connector_instance_id")
    ]


def test_both_names_may_say_the_same_and_not_different_things() -> None:
    assert read("connection_id=a&connector_instance_id=a").connection_id() == "a"
    with pytest.raises(InvalidArgument) as refused:
        read("connection_id=a&connector_instance_id=b").connection_id()

    assert refused.value.param == "connector_instance_id"


def test_an_empty_connection_is_none_and_warns_of_nothing() -> None:
    params = read("connection_id=&connector_instance_id=")

    assert params.connection_id() is None
    assert params.warnings == []


def test_a_path_segment_is_decoded_once_and_keeps_its_plus() -> None:
    assert decode_segment("a%2Fb+c%2520") == "a/b+c%20"
    with pytest.raises(InvalidRequest):
        decode_segment("%FF")
