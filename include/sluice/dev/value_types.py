"""The types of values in a JSON schema, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_WORDS = {"string": "text"}

Schema = Mapping[str, Any]


def describe_type(schema: Schema, models: Mapping[str, Schema] | None = None) -> str:
    """Name the type of a value: `integer from 1`, `list of text`, one of some words. `null` is not named.

    Args:
        models: by their names, the schemas that this one refers to.
    """
    if "$ref" in schema:
        return describe_type((models or {})[schema["$ref"].rpartition("/")[2]], models)
    if "anyOf" in schema:
        parts = [part for part in schema["anyOf"] if part.get("type") != "null" and "const" not in part]
        return " or ".join(describe_type(part, models) for part in parts)
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"] if word is not None)
    types = schema["type"]
    (name,) = [type_name for type_name in types if type_name != "null"] if isinstance(types, list) else [types]
    if name == "array":
        return f"list of {describe_type(schema['items'], models)}"
    bounds = [f" {word} {schema[key]:g}" for key, word in (("minimum", "from"), ("maximum", "to")) if key in schema]
    return f"{_WORDS.get(name, name)}{''.join(bounds)}"
