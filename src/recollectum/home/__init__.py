"""The state directory.

paths                where everything lies
files                atomic, private writes
locks                locks between processes
daemon               finds the running daemon
reserve              disk space for deletion on a full disk
logs                 the log, without content
log_rotation         the private log file; loaded with the first line
project              the project folder and its overrides
trusted_projects     the projects that the person trusts
policies             loads policy files
extensions           what others wrote for agents, and what of it has an effect
compressed           decompresses Zstandard
database_mark        whether the vaults are in a database
identity             the ids of this home and of this installation
move_mark            a move between engines: its lock, and where it leads
keys                 the master key and its holders
credentials          API keys and OAuth tokens
install_command      the command that adds a package to this environment
core_dumps           no core dumps of our programs, which would contain the key
"""
