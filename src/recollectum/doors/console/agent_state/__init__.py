"""Pages of what agents keep for a person besides conversations and memories.

state_page  the history of shells, accounts, and the state of interfaces
tasks       the tasks of agent servers, with sizes and ages
"""
