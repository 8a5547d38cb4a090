"""How text enters a vault.

draft         checks a memory and its trust before it is written
redaction     replaces secrets, and moves them to the credential store when told to
secret_store  stores redacted secrets for each vault
"""
