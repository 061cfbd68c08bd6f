"""DELETE /v1/streams/{stream}/records/{id}, and of all records of a stream."""

from pdpp_server.reads import deletes as reads
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.asked import AskedOverHttp
from pdpp_server.wire import deletes as wire


def one_record(services: Services, asked: AskedOverHttp) -> None:
    target = wire.decode_target(asked.params)
    reads.delete_record(services, asked.call, target, asked.stream, asked.key)


def all_records(services: Services, asked: AskedOverHttp) -> None:
    target = wire.decode_target(asked.params)
    reads.delete_records(services, asked.call, target, asked.stream)
