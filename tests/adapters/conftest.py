"""Loads urllib3, which frameworks bring, without the socket that it binds to ::1 to see whether there is IPv6."""

import importlib
import socket

import pytest

with pytest.MonkeyPatch.context() as patch:
    patch.setattr(socket, "has_ipv6", False)
    importlib.import_module("urllib3.util.connection")
