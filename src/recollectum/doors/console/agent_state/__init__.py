"""The page of what agents keep for a person besides conversations and memories.

state_page  the history of shells, accounts, and the state of interfaces
"""
