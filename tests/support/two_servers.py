"""Two servers, of which the second takes the place of the first as the master of a world."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from support.world import World


class TwoServers:
    """The old server, and the new one."""

    old: Any
    new: Any

    def lead(self, world: World, server: Any) -> None:
        """Let the connection of a world's master lead to one of them."""
        world.infos = {**world.infos, "master": replace(world.infos["master"], port=server.cluster.port)}
        world._servers["master"] = server
        world.configure(lambda _: None)
        world.reconnect("master")

    def remove(self) -> None:
        """End both."""
        for server in (self.new, self.old):
            server.cluster.remove()
