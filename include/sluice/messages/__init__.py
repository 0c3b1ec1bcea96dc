"""Messages of the change log, in the guide's XML and as JSON lines, and their export."""
