"""What agents keep for a person besides conversations and memories.

shell_command  a command that a shell ran in a project
interface      a value that a user interface keeps between runs
account        an account of the person at a service
"""
