"""A server that answers Airflow's Keycloak provider as Keycloak does: OpenID Connect, and tickets of UMA."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import jwt

REALM = "people"
_PATH = f"/realms/{REALM}/protocol/openid-connect"
_SECRET = "a secret of the server's alone, which is long enough"


@contextmanager
def serve(rights: Mapping[str, set[str]], password: str, browser: str) -> Iterator[str]:
    """Run one; its address.

    Args:
        rights: what each person has, as `Dag#POST`, or `Dag#POST initial_update RUN` for one DAG and entity.
        browser: the person who is logged in wherever a browser asks.
    """
    server = _Server(rights, password, browser)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.address
    finally:
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    def __init__(self, rights: Mapping[str, set[str]], password: str, browser: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.rights, self.password, self.browser = rights, password, browser
        self.address = f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        at = urlsplit(self.path)
        if at.path.endswith("/.well-known/openid-configuration"):
            names = {"authorization": "auth", "token": "token", "userinfo": "userinfo", "end_session": "logout"}
            self._answer(
                200, {f"{key}_endpoint": f"{self.server.address}{_PATH}/{name}" for key, name in names.items()}
            )
        elif at.path == f"{_PATH}/auth":
            asked = parse_qs(at.query)
            back = f"{asked['redirect_uri'][0]}?code={self.server.browser}&state={quote(asked['state'][0])}"
            self.send_response(303)
            self.send_header("Location", back)
            self.end_headers()
        else:
            assert at.path == f"{_PATH}/userinfo", at.path
            who = self._bearer()
            self._answer(200, {"sub": f"id of {who}", "preferred_username": who})

    def do_POST(self) -> None:
        assert self.path == f"{_PATH}/token", self.path
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        match form["grant_type"][0]:
            case "password" if form["username"][0] in self.server.rights and form["password"] == [self.server.password]:
                self._answer(200, _tokens(form["username"][0]))
            case "authorization_code":
                self._answer(200, _tokens(form["code"][0]))
            case "urn:ietf:params:oauth:grant-type:uma-ticket":
                self._ticket(self.server.rights[self._bearer()], form)
            case _:
                self._answer(401, {"error": "invalid_grant"})

    def _ticket(self, held: set[str], form: Mapping[str, list[str]]) -> None:
        permissions = form["permission"]
        if form.get("response_mode") == ["permissions"]:
            had = [asked.partition("#") for asked in permissions if asked in held]
            self._answer(200, [{"rsname": name, "scopes": [scope]} for name, _, scope in had])
            return
        claims = json.loads(base64.b64decode(form["claim_token"][0])) if "claim_token" in form else {}
        which = [value for key in ("resource_id", "dag_entity") for value in claims.get(key, ())]
        known = {permissions[0], " ".join([permissions[0], *which])}
        self._answer(*((200, {}) if held & known else (403, {"error": "access_denied"})))

    def _bearer(self) -> str:
        token = self.headers["Authorization"].removeprefix("Bearer ")
        return str(jwt.decode(token, _SECRET, algorithms=["HS256"])["preferred_username"])

    def _answer(self, status: int, body: Any) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def _tokens(who: str) -> dict[str, str]:
    claims = {"sub": f"id of {who}", "preferred_username": who, "exp": int(time.time()) + 3600}
    token = jwt.encode(claims, _SECRET)
    return {"access_token": token, "refresh_token": token, "id_token": token}
