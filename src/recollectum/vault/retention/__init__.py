"""How memories leave recall, by age, by deletion or by source.

periods     how long memories stay, by preset, settings and tenant, and the deadlines that follow
lifecycle   takes the steps that time has made due
trash       lists and restores deleted memories, and sweeps
quarantine  takes one source out of recall, and releases it
"""
