"""The commands, one module each, named like the command.

memory    save, find and change what is remembered
sessions  conversations, their files and checkpoints
learn     make memories out of conversations and notes
forget    delete, undo, erase, and the record of it
state     history of shells, state of interfaces, accounts
people    people, keys, rights, settings
operate   daemon, doors, backup and repair
"""
