"""Capture by the binary log: row events of whole transactions, in the order of their commits.

Values are decoded here. The library `mysql-replication` is wrong for negative fractions of a TIME, leaves out zeros at
the end of BINARY, UUID and INET6, and turns zero dates into None.
"""
