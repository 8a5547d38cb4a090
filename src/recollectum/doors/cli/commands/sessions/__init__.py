"""Commands about conversations.

sessions       shows, extends, ends and destroys conversations
export_import  writes conversations to files, and reads them back
imports        imports what other programs keep
own_bundles    makes the vaults of a bundle again
transcripts    follows the conversation files of other programs
tasks          keeps the tasks of agent servers with their workspaces
checkpoints    names places in conversations, and goes on from them
projects       keeps what belongs to a folder apart
"""
