"""Reads of one-shot command lines over connections that another process of the same user holds.

``holder`` is that process, and ``client`` the transport that asks it. ``frames`` has the messages between them, ``judging``
decides which reads the holder sends, ``place`` knows where its files are, ``starting`` starts it.
"""
