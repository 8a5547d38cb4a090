"""Who may use a vault.

keys         API keys and grants, and the caller that a key stands for
people       people, channel addresses, tenants, and merging two people
latest_time  the time of the home, which never goes back
"""
