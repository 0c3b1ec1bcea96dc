"""SQL statements of users: parsed, carried out, and their outcome."""
