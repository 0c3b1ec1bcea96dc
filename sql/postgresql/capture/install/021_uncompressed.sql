-- Images are not compressed: to compress rows of more than 2 kB would double what capture costs.
DO $uncompressed$
BEGIN
    IF EXISTS (
        SELECT FROM pg_catalog.pg_attribute
        WHERE attrelid = {queue_name}::pg_catalog.regclass AND attname IN ('content', 'oldcontent') AND attstorage <> 'e')
    THEN
        ALTER TABLE {queue} ALTER content SET STORAGE EXTERNAL, ALTER oldcontent SET STORAGE EXTERNAL;
    END IF;
END
$uncompressed$
