-- The values of a key as the server spells them, each in its column's type.
SELECT {values}
