"""The nouns: frozen dataclasses, enums, ids and the error tree. Standard library only.

access/     owner, caller, person and credential: who may do what
agent_state/  what agents keep besides conversations and memories
files/      notes and transcripts that a vault follows
models/     what embedders and language models are asked and what they answer
telemetry/  numbers and times for those who operate it
contact     somebody the person knows, and how they are reached
context     the block that a model is given, its ledger, and the profile
errors      every error that is raised on purpose
event       one line of the audit trail
hit         a result of recall, and the chunk it was cut from
ids         time-ordered ids, and the names that are allowed
learning    what an agent found out about working with a person
memory      something durable, its versions and citations
message     one message of a session, with its tool calls
notice      what a write replaced in its text, and what of it recall does not search
page        a part of a long list, and the cursor of the next
proposal    a change that waits for a decision
records     the decorator of these dataclasses, which starts fast
session     a conversation, its checkpoints and its summary
trust       how far a text is trusted
"""
