import type { Dialect } from '../../platform/database/engine/sql.js';

/** What must hold between the tables. */
export interface Check {
  name: string;
  /** A SELECT of the number of rows that break it, or whose absence does. */
  sql: string;
}

const withoutUser = (table: string): string =>
  `SELECT COUNT(*) FROM ${table} AS t WHERE NOT EXISTS (SELECT 1 FROM users AS u WHERE u.uuid = t.user_uuid)`;
const CONCAT: Record<Dialect, (column: string) => string> = {
  sqlite: (column) => `'login:' || ${column}`,
  mysql: (column) => `CONCAT('login:', ${column})`,
};
const withoutLogin = (dialect: Dialect): string =>
  `SELECT COUNT(*) FROM users AS u WHERE u.username_key <> '' AND NOT EXISTS (SELECT 1 FROM user_identifiers AS i
   WHERE i.identifier = ${CONCAT[dialect]('u.username_key')} AND i.user_uuid = u.uuid)`;
const miscounted = (name: string, actual: string): string =>
  `SELECT ABS((SELECT COALESCE(SUM(value), 0) FROM user_counts WHERE name = '${name}') - (${actual}))`;
const WEBMASTERS = `SELECT COUNT(*) FROM user_roles AS r JOIN users AS u ON u.uuid = r.user_uuid
  WHERE r.role = 'Webmaster' AND u.status = 'Active'`;
const status = (name: string): string => `SELECT COUNT(*) FROM users WHERE status = '${name}'`;

/** Each finds 0 in a database whose tables fit together. */
export const checksOf = (dialect: Dialect): readonly Check[] => [
  {
    name: 'an active Webmaster',
    sql: `SELECT CASE WHEN (SELECT COUNT(*) FROM users) > 0 AND (${WEBMASTERS}) = 0 THEN 1 ELSE 0 END`,
  },
  { name: 'identifiers belong to users', sql: withoutUser('user_identifiers') },
  { name: 'users have their login name', sql: withoutLogin(dialect) },
  { name: 'roles belong to users', sql: withoutUser('user_roles') },
  { name: 'search words belong to users', sql: withoutUser('user_words') },
  { name: 'attributes belong to users', sql: withoutUser('user_values') },
  { name: 'members are users', sql: withoutUser('group_members') },
  {
    name: 'members have a group',
    sql: 'SELECT COUNT(*) FROM group_members AS t WHERE NOT EXISTS (SELECT 1 FROM user_groups AS g WHERE g.uuid = t.group_uuid)',
  },
  {
    name: 'managers are users',
    sql: `SELECT COUNT(*) FROM users AS t WHERE t.manager_uuid IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM users AS u WHERE u.uuid = t.manager_uuid)`,
  },
  { name: 'count of active users', sql: miscounted('Active', status('Active')) },
  { name: 'count of blocked users', sql: miscounted('Blocked', status('Blocked')) },
  { name: 'count of Webmasters', sql: miscounted('webmasters', WEBMASTERS) },
];
