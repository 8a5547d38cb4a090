"""Hooks: agents call them as they work, so that recall and recording need no tool call.

client         the short process that an agent starts for one event
delivery       delivers the event to the daemon or a worker
from_server    answers with what the server of this machine knows, and sends it what was said
worker         a process that keeps the home open between events
worker_socket  its Unix socket
responder      answers events, and records them afterwards
events         parses events of all agents, and formats answers
told           which memories each conversation got already
recording      writes new messages of a transcript to the vault
routes         the same in the daemon: `POST /hook`, and `POST /v1/hook` with a key
log            the hook's error log
"""
