"""What is said to the table of what was asked, in words that both engines understand."""

ADD = """
insert into asked(request_id, operation, month, sealed) values(:request_id, :operation, :month, :sealed)
on conflict do nothing
"""
FIND = """
select request_id, operation, month, sealed from asked where request_id in (select value from json_each(:request_ids))
"""
ALL = "select request_id, operation, month, sealed from asked"
DROP = "delete from asked where request_id = :request_id and operation = :operation"
