"""Tables of what agents keep for a person besides conversations and memories.

shell_commands  commands of shells, by project
documents       small JSON documents with a version each
"""
