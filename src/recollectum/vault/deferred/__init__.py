"""What reads leave to be written soon, in another transaction; a crash loses at most a minute of it.

renewals  renews the deadlines of memories that were served
served    keeps the texts that were served until their digests are saved
digests   saves keyed digests of served texts
"""
