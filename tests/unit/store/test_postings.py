"""A posting block: where a term stands in the records of a batch."""

from pdpp_server.store.engines.postgres.postings import PostingRun, kept_run, runs

RUN = PostingRun(100, [0, 1, 5, 0, 1, 9, 3, 0, 2])


def test_a_run_tells_record_column_and_position_of_each_place() -> None:
    assert (RUN.rids, RUN.slots, RUN.positions) == ([100, 100, 103], [1, 1, 0], [5, 9, 2])


def test_runs_are_read_as_they_were_written_from_one_block_or_several() -> None:
    other = PostingRun(7, [])
    assert runs([kept_run(*RUN), kept_run(*other)]) == [RUN, other]
    assert runs([f"{kept_run(*RUN)},{kept_run(*other)}"]) == [RUN, other]
    assert runs([]) == []


def test_records_that_are_gone_leave_nothing_behind() -> None:
    assert RUN.without({100}) == PostingRun(100, [3, 0, 2])
    assert RUN.without(frozenset()) == RUN
    assert RUN.without({100, 103}).places == []


def test_what_is_left_of_records_that_came_out_of_order_stands_in_order() -> None:
    assert PostingRun(100, [9, 0, 1, -4, 1, 2, 3, 0, 0]).without({103}) == PostingRun(100, [-4, 1, 2, 9, 0, 1])
