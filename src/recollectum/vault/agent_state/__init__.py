"""What agents keep for a person besides conversations and memories.

shell_history  the commands of shells, by project
documents      small JSON documents with a version, which the next two are kept in
interfaces     the state of user interfaces
accounts       the person's accounts at services, one of each active
"""
