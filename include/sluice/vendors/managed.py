"""Words for servers that a provider runs: their settings are not in a file, and no administrator has every right.

Sources: the documents of Amazon RDS and Aurora, Google Cloud SQL, and Azure Database on the parameters of a server.
"""

from __future__ import annotations

# It follows the name of a setting.
SETTING = (
    "where a provider runs the server, set it there: in the parameter group (RDS, Aurora), as a flag (Cloud SQL), or "
    "as a server parameter (Azure)"
)
# People with the right to change an object, and with rights that an administrator may lack.
OWNER = "its owner, or an administrator who may"
SUPERUSER = "a superuser, or whom the provider lets"
