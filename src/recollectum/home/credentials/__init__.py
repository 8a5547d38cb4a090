"""API keys and OAuth tokens, in the keyring or in a sealed file, and the server that is used instead of the home.

store         stores, finds, refreshes and deletes credentials
register      credentials.json and its sealed records
file_key      the key that seals the file
keychain      the operating system's keyring
payload       a credential as bytes
token_import  imports an old token file
connection    the server that this machine uses, and the key for it
"""
