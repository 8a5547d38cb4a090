"""Export bundles: everything of some vaults as JSON lines and Markdown, readable without this program.

contents         the tables and facts of a vault that a bundle has, and those that it leaves out
manifest         the list of the files in a bundle, with their digests
container        a bundle as a folder, a zip file or an encrypted file
encrypted_file   a file encrypted by a passphrase, which is written in order and read at any place
pages            memories and conversations as Markdown
export           writes a bundle
load             makes vaults from a bundle
"""
