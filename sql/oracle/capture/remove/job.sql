-- Manual: PL/SQL Packages and Types Reference, "DBMS_SCHEDULER", "DROP_JOB Procedure".
BEGIN
    DBMS_SCHEDULER.DROP_JOB(job_name => {free_job_name}, force => TRUE);
END;
