"""What all doors over HTTP share.

guard           checks every request before any route
body_shape      bounds fields, values and depth of a body before it is parsed
cross_origin    which pages of other sites may call the API
rate_limit      token buckets per key and address
authentication  who is asking, by credential
readiness       whether the server can serve
server_state    the open home and the limits of one server
problems        errors as problem+json
metrics         counts and latencies for Prometheus
"""
