"""Bringing a slave to the master's state while both are in use: inhibit -> dump -> release -> verify (R5)."""
