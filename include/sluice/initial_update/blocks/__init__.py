"""Mode `online`: key ranges that are loaded one by one while the stream goes on."""
