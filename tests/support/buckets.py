"""An S3 server on the loopback, and a bucket in it."""

import logging
from collections.abc import Callable, Iterator
from itertools import count

import pytest
from moto.server import ThreadedMotoServer
from pyarrow import fs

SECRET = "wJalrXUtnFEMI"
KEYS = {"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": SECRET}
_number = count()


@pytest.fixture(scope="session")
def object_store() -> Iterator[str]:
    """Host and port of the server."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        yield "{}:{}".format(*server.get_host_and_port())
    finally:
        server.stop()


@pytest.fixture
def bucket(object_store: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """The URL of a directory in a bucket, or in one that is not there: ``bucket("log", "missing")``."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    made = f"bucket-{next(_number)}"
    store = fs.S3FileSystem(endpoint_override=object_store, scheme="http", allow_bucket_creation=True)
    store.create_dir(made)
    return lambda name, of=made: f"s3://{of}/{name}?endpoint_override={object_store}&scheme=http"
