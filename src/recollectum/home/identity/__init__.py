"""The ids of a home.

host          the id and name of this home among those that use one database
installation  the id of this installation
"""
