"""What all commands share at the terminal.

flags     --json, --user and --home, and owners as people type them
target    the home, the user and the vault that a command is about
prompts   asks for a yes, a secret or a text
output    answers on stdout, remarks and progress on stderr
projects  a project as people type it
times     parses durations and dates
help      commands in groups, and what a wrong name meant
excerpts  the part of a long text around the words of a question
embedding  embeds what a command has just written
errors    failures as one sentence and an exit code
sanitise  escapes control characters of stored text
followed_files  reads followed files, and shows what was read and left out
"""
