"""Requests to this machine itself, which no proxy of a shell may take: it has a loopback of its own."""

from __future__ import annotations

import ipaddress
import os
import urllib.request
from typing import Any
from urllib.parse import urlsplit

_NAMES = ("localhost", "127.0.0.1", "::1")
_VARIABLES = ("no_proxy", "NO_PROXY")


class _Direct(urllib.request.ProxyHandler):
    def proxy_open(self, req: urllib.request.Request, proxy: str, type: str) -> Any:
        # Nothing means that the next one opens it.
        return None if is_here(req.host) else super().proxy_open(req, proxy, type)


def is_here(address: str) -> bool:
    """Whether a host, or a host with a port, is of the loopback by its name."""
    host = "::1" if address == "::1" else urlsplit(f"//{address}").hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def opener(*handlers: Any) -> urllib.request.OpenerDirector:
    """Opens URLs by the proxies of the environment, and those of the loopback by none."""
    return urllib.request.build_opener(_Direct(), *handlers)


def is_socks(name: str, value: str) -> bool:
    """Whether a variable names a SOCKS proxy. Airflow's HTTP client refuses to begin with one, whatever it opens."""
    return name.lower().endswith("_proxy") and value.lower().startswith("socks")


def without_proxies() -> dict[str, str]:
    """The variables by which programs that are started reach the loopback by no proxy."""
    given = next((value for name in _VARIABLES if (value := os.environ.get(name))), "")
    hosts = [*filter(None, map(str.strip, given.split(","))), *_NAMES]
    return dict.fromkeys(_VARIABLES, ",".join(dict.fromkeys(hosts)))
