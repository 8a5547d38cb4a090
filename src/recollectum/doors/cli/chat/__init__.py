"""`recollectum chat`: a reference agent with a memory.

chat            the command, and its loop of lines
conversation    one chat: the open home, the agent, and changed settings
agent           one turn: prompt, reply, tools, recording
rule_answers    the reply where there is no model
tools           the model's tools: remember and recall
slash_commands  /remember, /forget, /context and the others
terminal_io     reads lines, and streams replies
upkeep          summaries and consolidation in the background
"""
