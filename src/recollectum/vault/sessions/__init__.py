"""Conversations.

service      opens, lists, imports and deletes sessions
chat         adds messages to one session and reads them
checkpoints  named places in conversations, and forks from them
echoes       finds and removes echoes that were stored earlier
summaries    incremental summaries of long conversations
"""
