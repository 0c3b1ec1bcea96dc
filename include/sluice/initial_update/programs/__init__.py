"""Mode `external`: programs of the database that export and import."""
