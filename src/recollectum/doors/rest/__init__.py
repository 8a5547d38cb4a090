"""The vault over HTTP and JSON.

routes            all routers, and the OpenAPI document
requests          fields, headers and bodies of requests
responses         JSON responses and page cursors
response_schemas  response bodies for OpenAPI, from the dataclasses
preconditions     If-Match and Idempotency-Key
memories          /v1/memories, /memory
recall            /v1/recall, /memory/query, /v1/context, /v1/profile
sessions          /v1/sessions, /v1/projects
learnings         /v1/learnings
review            /v1/review
purge             /v1/purges, /memory/user/purge, /v1/receipts
events            /v1/events
state             /v1/history, /v1/state, /v1/accounts
export            /v1/exports
keys              /v1/me, /v1/keys
mem0              the routes of mem0's client
transfers         /v1/imports
home_routes       /v1/extensions
health            /healthz, /readyz, /metrics
"""
