"""Capture of changes on GaussDB and openGauss."""
