"""Commands about what agents keep for a person besides conversations and memories.

history   the commands of shells, by project
state     what user interfaces keep between runs
accounts  the person's accounts at services
"""
