"""What several hosts of one database share: the keys of its vaults, the erasure ledger, and locks.

key_place    where the wrapped keys of a home are
keys_file    in the file keys.db of the home
keys_server  in a keys database, which every host uses
choosing     which of the two it is
key_rows     all rows of a key place, to copy and compare them
key_moves    moves the keys from one place into the other
home_ledger  keeps the erasure ledger of a server beside the keys too
shared_lock  locks that hold across all hosts of a database
"""
