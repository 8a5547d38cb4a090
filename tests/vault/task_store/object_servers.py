"""Object stores to test against: a server that speaks S3, and the emulator of Google Cloud Storage, on this machine."""

import contextlib
import io
import logging
import re
import urllib.request
from collections.abc import Generator, Mapping
from typing import Any, cast

BUCKET = "agent-tasks"


@contextlib.contextmanager
def s3_server() -> Generator[Mapping[str, str], None, None]:
    """Run moto's server with a bucket; yield the variables that lead to it."""
    from moto.server import ThreadedMotoServer  # pyright: ignore[reportMissingTypeStubs]

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = cast("Any", ThreadedMotoServer)(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        url = f"http://{host}:{port}"
        with urllib.request.urlopen(urllib.request.Request(f"{url}/moto-api/reset", method="POST")):
            pass
        with urllib.request.urlopen(urllib.request.Request(f"{url}/{BUCKET}", method="PUT")):
            pass
        yield {
            "AWS_ENDPOINT_URL": url,
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
        }
    finally:
        server.stop()


@contextlib.contextmanager
def google_server() -> Generator[Mapping[str, str], None, None]:
    """Run the emulator of Google Cloud Storage with a bucket; yield the variable that leads to it."""
    from gcp_storage_emulator import server as emulator  # pyright: ignore[reportMissingTypeStubs]

    logging.getLogger("gcp_storage_emulator").setLevel(logging.ERROR)
    handler = cast("Any", emulator.RequestHandler)
    plain = handler.do_POST

    def answer(request: Any) -> None:  # noqa: ANN401 - a handler of the emulator
        if not _refuses(request):
            plain(request)

    handler.do_POST = answer
    server = cast("Any", emulator.create_server)("127.0.0.1", 0, in_memory=True, default_bucket=BUCKET)
    server.start()
    try:
        host, port = server._api._httpd.server_address
        yield {"STORAGE_EMULATOR_HOST": f"http://{host}:{port}"}
    finally:
        server.stop()
        handler.do_POST = plain


def _refuses(request: Any) -> bool:  # noqa: ANN401 - a handler of the emulator
    """Answer a request for a new object with 412 when it exists, as Google does and the emulator does not."""
    from gcp_storage_emulator.exceptions import NotFound  # pyright: ignore[reportMissingTypeStubs]

    body = request.rfile.read(int(request.headers["Content-Length"]))
    request.rfile = io.BytesIO(body)
    name = re.search(rb'"name": *"([^"]+)"', body)
    if "ifGenerationMatch=0" not in request.path or name is None:
        return False
    try:
        request.storage.get_file_obj(BUCKET, name[1].decode())
    except NotFound:
        return False
    request.send_response(412)
    request.send_header("Content-Length", "0")
    request.end_headers()
    return True
