"""Who may do what: owners, callers, people and credentials.

owner       whose memory a vault holds
caller      who calls, with which permissions, grants and API key
person      people with their channel identities, tenants and merges
credential  API keys and OAuth tokens of other services
"""
