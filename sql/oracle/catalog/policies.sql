-- Policies that hide rows of a table, or their values, from the user of the session. Manual: Database Reference, "ALL_POLICIES",
-- "SESSION_PRIVS"; Security Guide, "Using Oracle Virtual Private Database to Control Data Access".
SELECT guarding.policy_name
FROM all_policies guarding
WHERE guarding.object_owner = :schema AND guarding.object_name = :name AND guarding.enable = 'YES' AND guarding.sel = 'YES'
  AND NOT EXISTS (SELECT 1 FROM session_privs held WHERE held.privilege = 'EXEMPT ACCESS POLICY')
ORDER BY guarding.policy_name
