-- Manual: SQL Language Reference, "ALTER SESSION"; Globalization Support Guide, "Setting Up a Globalization Support Environment".
ALTER SESSION SET {settings}
