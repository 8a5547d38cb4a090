"""The routes that mem0's own `MemoryClient` calls, on the vault of the person whose key it has.

routes       what is served
bodies       fields and bodies of requests
not_offered  what is refused, each with its reason
"""
