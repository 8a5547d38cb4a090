"""`recollectum mcp install` and `uninstall`: edit the configuration of other programs.

mcp_install   the commands
agents        the known agents, their files and our entries
file_changes  plans, checks and writes the changes
services      finds the service of this account
jsonc         edits JSON with comments in place
toml_tables   edits one table of a TOML file in place
"""
