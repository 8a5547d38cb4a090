"""A connection to `localhost` that only opens to a loopback address, against DNS rebinding."""

import ipaddress
import socket
from http.client import HTTPConnection

from recollectum.domain.errors import ModelRefused


class LoopbackConnection(HTTPConnection):
    """A connection that opens to a loopback address only.

    Texts go to `localhost` unencrypted because they do not leave the machine. So the name is resolved once, and the
    address that was checked is the one that is connected to.
    """

    def connect(self) -> None:
        """Open the connection; raise if the name resolves to another machine."""
        found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(place[0]) for *_, place in found))
        if not addresses or not all(_is_loopback(address) for address in addresses):
            raise ModelRefused(f"{self.host} resolves to another machine; correct the host names, or use https")
        for address in addresses:
            try:
                self.sock = socket.create_connection((address, self.port), self.timeout)
            except OSError:
                # A server may listen on one of the two address families only.
                if address == addresses[-1]:
                    raise
            else:
                self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return


def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback
