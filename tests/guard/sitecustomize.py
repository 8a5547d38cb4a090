"""Brings the socket guard into every Python program that a test starts."""

import socket_guard as socket_guard
