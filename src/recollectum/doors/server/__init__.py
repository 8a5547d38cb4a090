"""The daemon of a home.

daemon  the process: lock, upkeep, server, graceful stop
app     the HTTP app with all doors, and `POST /local/embed`
"""
