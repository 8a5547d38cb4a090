"""The vault over HTTP and JSON.

routes         all routers, and the OpenAPI document
requests       fields, headers and bodies of requests
responses      JSON responses and page cursors
documents      response bodies for OpenAPI
preconditions  If-Match and Idempotency-Key
memories       /memory
recall         /memory/query, /context, /profile
sessions       /sessions
learnings      /learnings
review         /review
purge          /memory/user/purge, /receipts
events         /events
export         /export
keys           /keys
health         /healthz, /readyz, /metrics
"""
