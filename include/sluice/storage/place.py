"""The place of a directory, as a path or a URL. To know it takes no library that opens it."""

from __future__ import annotations

from typing import Self


class StoragePlace:
    """A directory below one that is configured.

    Attributes:
        root: as it is configured: a path, or a URL.
        steps: the way from there.
    """

    def __init__(self, root: str, steps: tuple[str, ...] = ()) -> None:
        self.root = root
        self.steps = steps

    @property
    def url(self) -> str:
        """The URL or path, for people."""
        path, mark, options = self.root.partition("?")
        return f"{'/'.join([path.rstrip('/') if self.steps else path, *self.steps])}{mark}{options}"

    def within(self, name: str) -> Self:
        """A directory in this one."""
        return type(self)(self.root, (*self.steps, name))
