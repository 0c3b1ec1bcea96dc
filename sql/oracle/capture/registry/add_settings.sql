-- Manual: SQL Language Reference, "INSERT".
INSERT INTO {settings} (detection, initial_content) VALUES (:detection, :initial_content)
