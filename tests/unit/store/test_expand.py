"""What a record is related to, where it names it and where it names nothing."""

from pdpp_server.model.queries import Expand, FetchQuery
from tests.worlds.post import Post
from tests.worlds.world import World


def test_a_named_record_is_found_and_none_is_found_where_none_is_named(world: World) -> None:
    post = Post(world)
    reader = world.reader_of(post.grant({"name": "letters"}, {"name": "threads"}))

    def threads(key: str, connection: str) -> list[str]:
        letter = reader.fetch(FetchQuery("letters", key, connection, expand=(Expand("thread"),))).value
        return [thread.id.key for thread in letter.expanded["thread"].records]

    assert threads("l1", post.office) == ["t1"]
    assert threads("l4", post.office) == []  # it names no thread
    assert threads("l9", post.home) == []  # the thread is gone
