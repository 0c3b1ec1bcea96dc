-- A temporary table commits nothing when it is made, unlike any other (R3).
CREATE TEMPORARY TABLE {stage} (sluice_mark tinyint NOT NULL, {columns})
ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation}
