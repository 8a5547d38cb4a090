"""The tasks of agent servers.

service     saves, reads, lists and deletes tasks
retention   which tasks are too old or too many, and what interrupted saves left
snapshot    reads a workspace as one stream
extraction  writes such a stream into a new folder
"""
