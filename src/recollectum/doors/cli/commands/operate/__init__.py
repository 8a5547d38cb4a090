"""Commands that run and repair an installation.

serve    runs the daemon
daemon   reports on the daemon and stops it
console  link to the web console
connect  uses the vault of a server
mcp      serves MCP over stdio
hook     answers an agent's hook
backup   copies the home
restore  brings vaults back
hosts    under `daemon`: shows which host keeps the files of vaults
export   writes vaults into a bundle that other programs can read
move     moves all vaults between files and a database
doctor   finds problems, and with --deep reads every page
repair   salvages a damaged vault
upgrade  migrates vaults to this schema
"""
