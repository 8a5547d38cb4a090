"""The daemon of a home.

daemon       the process: lock, upkeep, server, graceful stop
app          the HTTP app with all doors, and `POST /local/embed`
listening    the server that listens: announces itself, drains when it stops
tls          the certificate of HTTPS
connections  ends connections that send no request in time, or are too many
"""
