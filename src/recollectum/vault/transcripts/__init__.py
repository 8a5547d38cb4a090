"""Transcript files of other programs.

service  follows and unfollows files
sync     imports new lines and stores the position
watch    decides when a file is read
"""
