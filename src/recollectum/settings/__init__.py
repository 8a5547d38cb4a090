"""Merges four scopes of settings into one validated value.

spec      the rules of one setting
storage   the settings of the storage, with their defaults
model     every setting with its default
values    parses and checks settings that are texts with a form
registry  every setting by dotted key
read      reads and parses a settings file
check     checks values and resolves references
load      merges the scopes
render    settings as TOML and as the reference page
edit      changes one line of settings.toml
legacy    reads the old settings.json
migrate   moves settings.json to settings.toml
"""
