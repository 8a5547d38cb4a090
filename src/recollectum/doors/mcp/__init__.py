"""The vault over the Model Context Protocol.

stdio_main         the process behind `recollectum mcp`
stdio_server       serves one client on stdin and stdout
protocol_versions  both generations of the protocol
declarations       how tools, resources and prompts are declared
catalogue          what the default profile offers
target             home and person, from flags and environment
local_backend      answers from the home in this process
daemon_backend     answers from a running daemon
client             the connected client and its confirmations
dispatch           answers requests that need a vault
tools              the tools of the default profile
results            text and JSON of results
http_mount         the official SDK's server inside the HTTP app
knowledge_graph    the profile with the tools of the reference memory server
"""
