-- Manual: PL/SQL Language Reference, "Block".
BEGIN
    {note_segments}(:relation);
END;
