"""Maintenance of a whole home.

home_admin  what all maintenance needs of an open home
presence    whether there is a home, without opening it
rounds      periodic work in the daemon
backup      backup, restore and repair
doctor      checks of a home and its vaults
"""
