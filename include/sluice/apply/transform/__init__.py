"""A slave's transformation of rows: filters, computed columns, plugins, stylesheets."""
