"""Health check inside a container, where there is no curl: `healthy.py http://HOST:PORT/PATH` or `tcp://HOST:PORT`."""

import socket
import sys
import urllib.parse
import urllib.request

url = sys.argv[1]
if url.startswith("tcp://"):
    parts = urllib.parse.urlsplit(url)
    socket.create_connection((parts.hostname, parts.port), timeout=5).close()
else:
    # By no proxy, which Docker may put into each container.
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=5).close()
