"""PostgreSQL: one database for many owners. A first slice: what is ingested, fetched, paged and searched."""
