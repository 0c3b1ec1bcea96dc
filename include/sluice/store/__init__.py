"""The control store: its engine, its tables, and one module for each family of rows."""
