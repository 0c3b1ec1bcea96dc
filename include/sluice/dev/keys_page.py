"""The page of the configuration's keys, made from the JSON schema of the file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sluice.dev.docs_hooks import slug
from sluice.dev.markdown import cell, sentence

_INTRODUCTION = """# Keys of the configuration

This page is made from the code that reads the file, in the order of the file. [Configuration](configuration.md) has an
example and says how the file is found. In a title, `<name>` is a name of your own, `<schema.table>` a table or a
[wildcard](tables.md#wildcards), and `[]` each entry of a list. A connection is the id of a
[connection of Airflow](configuration.md#connections). A section without settings may be left out, or be empty.
"""
_FILE = "The file"
# Keys of mappings whose own keys are tables.
_OF_TABLES = "tables"
_PLAIN_TYPES = {"string": "text", "boolean": "boolean"}
_ONE = re.compile(r"(^|, | or )(text|boolean|integer|number|list)\b")
_OR_NONE = ", or none"

Schema = Mapping[str, Any]


def keys_page(schema: Schema) -> str:
    """The page of the keys of a JSON schema."""
    return "\n".join([_INTRODUCTION, *_Page(schema["$defs"]).sections(schema)])


class _Page:
    def __init__(self, models: Mapping[str, Schema]) -> None:
        self._models = models
        self._titles: dict[str, list[str]] = {}

    def sections(self, file: Schema) -> Iterator[str]:
        for name, path in self._nested_models(file, ""):
            self._titles.setdefault(name, []).append(path)
        yield from self._section(f"## {_FILE}", file)
        for name, (path, *others) in self._titles.items():
            depth = path.replace(".<", "<").replace("<schema.table>", "").count(".")
            yield from self._section(f"##{'#' * depth} `{path}`", self._models[name], others)

    def _nested_models(self, model: Schema, prefix: str) -> Iterator[tuple[str, str]]:
        """Each model of a section below this one, with its path."""
        for key, value in model["properties"].items():
            for name, ending in self._models_of(value, key):
                path = f"{prefix}{key}{ending}"
                yield name, path
                yield from self._nested_models(self._models[name], f"{path}.")

    def _models_of(self, value: Schema, key: str) -> Iterator[tuple[str, str]]:
        if name := self._model(value):
            yield name, ""
        for part in value.get("anyOf", []):
            yield from self._models_of(part, key)
        inner = "schema.table" if key == _OF_TABLES else "name"
        for part, ending in ((value.get("items"), "[]"), (value.get("additionalProperties"), f".<{inner}>")):
            if isinstance(part, Mapping):
                yield from ((name, f"{ending}{more}") for name, more in self._models_of(part, ""))

    def _model(self, value: Schema) -> str:
        """The name of the model that a value is; empty for any other value."""
        name = str(value.get("$ref", "")).rpartition("/")[2]
        return name if name and "properties" in self._models[name] else ""

    def _section(self, title: str, model: Schema, others: Sequence[str] = ()) -> Iterator[str]:
        required = model.get("required", [])
        yield from (title, "", model["description"], "")
        yield from (f"`{other}` has the same keys.\n" for other in others)
        yield from ("| key | type | default | meaning |", "|---|---|---|---|")
        for key, value in model["properties"].items():
            default = "required" if key in required else self._default(value)
            meaning = sentence(self._description(value))
            yield f"| `{key}` | {self._type(value)} | {default} | {cell(meaning)} |"
        yield ""

    def _description(self, value: Schema) -> str:
        if "description" in value:
            return str(value["description"])
        (name,) = (name for name, _ in self._models_of(value, ""))
        return " ".join(str(self._models[name]["description"]).split()).partition(". ")[0]

    def _default(self, value: Schema) -> str:
        default = value["default"]
        if self._model(value):
            return ""
        if default is None:
            return "none"
        if isinstance(default, list):
            return f"`[{', '.join(map(str, default))}]`"
        return f"`{default if default and isinstance(default, str) else json.dumps(default)}`"

    def _type(self, value: Schema) -> str:
        if name := self._model(value):
            return f"[settings](#{slug(self._titles[name][0])})"
        if "$ref" in value:
            return self._type(self._models[value["$ref"].rpartition("/")[2]])
        if "anyOf" in value:
            parts = [self._type(part) for part in value["anyOf"] if part != {"type": "null"}]
            return _either(parts) + (_OR_NONE if len(parts) < len(value["anyOf"]) else "")
        if "enum" in value:
            return _either([f"`{value_text}`" for value_text in value["enum"]])
        match value["type"]:
            case "array":
                return f"list of {_many(self._type(value['items']))}"
            case "object":
                return self._mapping(value)
            case "integer" | "number" as kind:
                return f"{kind}{_bounds(value)}"
            case "string" if value.get("pattern") == "^/":
                return "absolute path"
            case "string" if "maxLength" in value:
                return f"text, at most {value['maxLength']} characters"
            case kind:
                return _PLAIN_TYPES[kind]

    def _mapping(self, value: Schema) -> str:
        names = "names"
        if "patternProperties" in value:
            ((pattern, inner),) = value["patternProperties"].items()
            names = f"`{pattern.strip('^$')}`"
        else:
            inner = value["additionalProperties"]
        if "$ref" in value.get("propertyNames", {}):
            names = self._type(value["propertyNames"])
        kind = _many(self._type(inner))
        return f"{names} to {kind.removesuffix(_OR_NONE) if any(self._models_of(inner, '')) else kind}"


def _many(kind: str) -> str:
    """A type in the plural."""
    return _ONE.sub(r"\1\2s", kind)


def _either(parts: list[str]) -> str:
    return " or ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]


def _bounds(value: Schema) -> str:
    lowest, above, highest = (value.get(key) for key in ("minimum", "exclusiveMinimum", "maximum"))
    lower = "" if lowest is None else f" from {lowest}"
    lower = lower if above is None else f" above {above}"
    return lower if highest is None else f"{lower} to {highest}" if above is None else f"{lower}, up to {highest}"
