"""The routes of what agents keep for a person besides conversations and memories.

history     /v1/history
interfaces  /v1/state
accounts    /v1/accounts
tasks       /v1/tasks
"""
