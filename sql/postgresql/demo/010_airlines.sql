CREATE TABLE airlines (
    carrier text PRIMARY KEY,
    name    text NOT NULL
)
