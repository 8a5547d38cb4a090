"""The master key of a home.

holders         chooses and asks the holder of the key
passphrase      by a passphrase (Argon2id)
keyring_holder  in the operating system's keyring
key_file        in a private file
recovery        the recovery code
wrapping        wraps one key by another
"""
