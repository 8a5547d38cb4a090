"""Tables of a vault that hold content.

memories     memories in their current state
memory_pages lists of memories by state and kind
deadlines    the times at which memories change state, rewritten for many at once
versions     earlier texts of memories
messages     messages in order
sessions     conversations
notes        followed folders and their notes
transcripts  followed transcript files and read offsets
imports      which messages each import added
projects     projects, and the folders that each is or was in
checkpoints  named positions in conversations
summaries    summaries of long conversations
citations    message spans that support a memory
served       digests of the blocks that were served last
"""
