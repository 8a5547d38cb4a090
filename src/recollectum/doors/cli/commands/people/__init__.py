"""Commands about people, rights, keys and settings.

init         makes the home
status       reports what the home holds
users        people and their addresses
tenants      retention by group of people
keys         API keys
grants       access to another owner's vault
credentials  secrets for other services
encryption   who holds the key of the home
rekey        new keys for vaults, and a new master key
policy       checks and explains rules
extensions   what others wrote for agents
settings     shows and changes settings
models       which models there are, and what each needs
"""
