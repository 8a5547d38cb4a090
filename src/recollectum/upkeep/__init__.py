"""Maintenance of a whole home.

home_admin  what all maintenance needs of an open home
presence    whether there is a home, without opening it
rounds      periodic work in the daemon
backup      backup, restore and repair
bundle      export bundles, and vaults made from them
abandoned_vaults  recognises vaults whose creation was killed
move        moves one vault or all between files and a database
readiness   whether a home can serve
spans       times of operations, for OpenTelemetry
rekey       new keys for vaults, and a new master key
doctor      checks of a home and its vaults
"""
