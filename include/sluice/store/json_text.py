"""Values as JSON of the control store, which holds every text, also one that PostgreSQL does not take.

No JSONB has the character NUL (PostgreSQL manual, "JSON Types"), and texts of rows on MariaDB and Oracle may. It is
written as a mark with a digit behind it; so is the mark itself, so that no two texts become the same one.
"""

from __future__ import annotations

import json
import re
from typing import Any

# Unicode has it for programs' own use: no text that people write has it.
_MARK = "\ufdd0"
# An escape of JSON as a whole: what follows two backslashes is none.
_ESCAPE = re.compile(r"\\(?:u[0-9a-f]{4}|.)")
_WRITTEN = {r"\u0000": r"\ufdd00", r"\ufdd0": r"\ufdd01"}
_READ = {f"{_MARK}0": r"\u0000", f"{_MARK}1": _MARK}
_MARKED = re.compile("|".join(_READ))


def dumps(value: object) -> str:
    """The JSON of a value."""
    return _ESCAPE.sub(lambda match: _WRITTEN.get(match[0], match[0]), json.dumps(value))


def loads(text: str | bytes) -> Any:
    """The value of a JSON that the store gave."""
    json_text = text if isinstance(text, str) else text.decode()
    return json.loads(_MARKED.sub(lambda match: _READ[match[0]], json_text))
