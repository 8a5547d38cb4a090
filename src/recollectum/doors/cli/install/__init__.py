"""`recollectum mcp install`: edits the configuration of other programs.

mcp_install   the command
agents        the known agents, their files and our entries
file_changes  plans, checks and writes the changes
jsonc         edits JSON with comments in place
toml_tables   edits one table of a TOML file in place
"""
