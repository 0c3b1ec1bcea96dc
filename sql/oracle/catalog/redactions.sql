-- Policies that give the user of the session other values than those that a table has. Manual: Database Reference, "REDACTION_POLICIES"
-- (the view is for those who may select from it); Advanced Security Guide, "Exempting Users from Oracle Data Redaction Policies".
SELECT hiding.policy_name
FROM sys.redaction_policies hiding
WHERE hiding.object_owner = :schema AND hiding.object_name = :name AND hiding.enable LIKE 'YES%'
  AND NOT EXISTS (SELECT 1 FROM session_privs held WHERE held.privilege = 'EXEMPT REDACTION POLICY')
ORDER BY hiding.policy_name
