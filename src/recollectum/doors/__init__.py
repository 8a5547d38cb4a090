"""The ways in: each translates a request, calls a service, and translates the answer back.

cli          the command line
server       the daemon process and its HTTP app
rest         HTTP and JSON
mcp          the Model Context Protocol
console      web pages for a person
hook         events that agents send as they work
remote       the vault of a server on another machine
http         authentication, guard, limits and errors that all HTTP doors share
json_values  turns our values into JSON
"""
