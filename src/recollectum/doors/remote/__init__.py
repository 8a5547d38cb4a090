"""The vault of a server on another machine, for the doors of this one.

link      one connection: TLS, time-outs, sizes, errors; the key goes to this server alone
decoding  JSON of the server as our values
vault     the calls of a vault that a server answers
sessions  its conversations
imports   files of this machine, for a vault on a server
pages     lists of the server
"""
