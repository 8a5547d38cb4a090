"""The graph profile: the nine tools of the reference memory server.

catalogue    declares the tools
nodes        entities and relations as keyed memories
graph_tools  the functions of the tools
file_import  imports that server's file
"""
