"""Reads of one-shot command lines over connections that another process of the same user holds.

``holder`` is that process, ``client`` the transport that asks it, ``frames`` what passes between them, ``judging`` what the
holder carries, ``place`` where its files lie, ``starting`` how it begins.
"""
