-- Manual: PL/SQL Packages and Types Reference, "DBMS_SCHEDULER", "CREATE_JOB Procedure".
BEGIN
    DBMS_SCHEDULER.CREATE_JOB(
        job_name        => {free_job_name},
        job_type        => 'STORED_PROCEDURE',
        job_action      => {free_name},
        repeat_interval => 'FREQ=SECONDLY;INTERVAL=10',
        enabled         => TRUE);
END;
