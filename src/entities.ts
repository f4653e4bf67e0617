import * as apiKeys from './api-keys/api-key.entity.js';
import * as audit from './audit/audit.entity.js';
import * as groups from './groups/group.entity.js';
import * as idempotency from './idempotency/idempotency.entity.js';
import * as importProfiles from './import/mapping/import-profile.entity.js';
import * as imports from './import/runs/import.entity.js';
import * as installation from './platform/database/installation/installation.entity.js';
import * as leases from './platform/database/leases/lease.entity.js';
import * as logins from './sessions/login.entity.js';
import * as sessions from './sessions/session.entity.js';
import * as deletedUsers from './users/model/deleted-user.entity.js';
import * as lookups from './users/model/user-lookups.entity.js';
import * as users from './users/model/user.entity.js';

const FILES = [
  ...[users, lookups, deletedUsers, groups, idempotency, sessions, logins],
  ...[apiKeys, audit, imports, importProfiles, leases, installation],
];

/** All tables of the service. A test compares this list with the tables that the migrations create. */
export const ENTITIES = FILES.flatMap((file) => Object.values<new () => object>({ ...file }));
