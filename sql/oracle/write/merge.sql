-- A table has one unique key, so a row can only be in the way of itself. Manual: SQL Language Reference, "MERGE".
MERGE INTO {table} held
USING (SELECT {columns} FROM {stage} kept WHERE kept.sluice_mark <> 0) staged
ON ({same_key})
{becomes}
WHEN NOT MATCHED THEN INSERT ({columns}) VALUES ({staged})
