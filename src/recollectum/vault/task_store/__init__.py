"""Where tasks are kept: a folder or object storage.

places    where the tasks of a home are, and with which key
versions  the versions of a task; of two writers one succeeds
transfer  stores and loads the parts of an archive, a few at a time
sealing   compresses and encrypts records and parts
objects   what an object store is, and how a URL names one
folder    a folder as an object store
cloud     a bucket of S3, or memory
google    a bucket of Google Cloud Storage
"""
