"""Everything that is kept for one owner, and the operations on it.

vault          gives one caller one owner's vault with its services
admin          groups the services for who runs a vault, and those that take back and erase
service        imports a service when it is first asked for
runtime        bundles what every service uses, and runs transactions
open_vaults    the open vaults, least recently used closed first
gate           checks the caller's permission before each operation
policies       asks the policy rules of the home before each operation
clock          keeps the vault's time monotonic
events         lists the audit events
idempotency    runs a request with an idempotency key once
index          reports on the search index, updates and verifies it
recall         checks a recall request, and runs the pipeline
refresh        syncs changed files before a search and at session start
erasure        erases the physical remains of destroyed rows
messages       appends messages to sessions
files          reads a person's files; the runtime's caches of them
deferred       what reads leave to be written soon
intake         admits text before it is written: cleaned, without secrets, checked and with its trust
access         API keys, grants and people
memories       saves, changes and reads memories
retention      life cycle, trash and quarantine
undo           undoes changes, and compares two times
sessions       conversations, checkpoints and summaries
context        builds a context for a model; the profile
notes          folders of Markdown files
learnings      what agents learned, and LEARNINGS.md
imports        imports what other programs keep
transcripts    follows transcript files of other programs
consolidation  turns conversations into memories
review         the inbox of proposals
projects       the folders that memories and conversations belong to
agent_state    what agents keep besides: history of shells, state of interfaces, accounts
contacts       resolves who is meant and how to reach them
tasks          saves and reads the tasks of agent servers
task_store     where tasks are kept: a folder or object storage
purge          erases for good, with receipts
extensions     what others wrote for agents
"""
