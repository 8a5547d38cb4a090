"""The HTTP client for model endpoints.

endpoint  a safe address, and HTTP statuses as errors
client    posts JSON and reads the answer, whole or as a stream
loopback  a connection that stays on this machine
"""
