"""DbResources: installed in a PostgreSQL master, upgraded, watched."""
