"""PostgreSQL: one database for many owners, and everything durable in it."""
