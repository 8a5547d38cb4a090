"""The command line.

entry      the program's first step; answers `recollectum mcp` without loading the rest
main       builds the parser from all commands, and runs one line
terminal   flags, target, prompts, output and errors that all commands share
commands   one module per command, by heading
chat       `recollectum chat`, the reference agent
install    `recollectum mcp install`, which edits the configuration of agents
benchmark  `recollectum bench`, which scores recall on labelled sets
"""
