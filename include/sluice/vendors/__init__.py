"""Databases of every vendor behind one protocol: a module of Python and a folder of SQL each."""
