"""Reads files that belong to a person, and finds the project of a folder. Nothing here needs an open vault.

file_host         decides whether the files of a vault are this host's
text_files        reads and decodes one regular file
crawl             walks a folder under ignore rules
crawl_cache       caches crawls, and throttles refreshes
owner_files       locates and replaces an owner's own files
foreign_sources   what a reader of foreign files hands over, and the port that finds them
projects          finds the project that a name, an id or a path means
transcript_files  finds transcripts and reads their lines; the port of their parser
"""
