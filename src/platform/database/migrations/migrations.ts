import { Users1763600000000 } from './1763600000000-users.js';
import { Access1763600001000 } from './1763600001000-access.js';
import { Imports1763600002000 } from './1763600002000-imports.js';
import { Changes1763600003000 } from './1763600003000-changes.js';
import { NoChanges1764000000000 } from './1764000000000-no-changes.js';
import { UserCounts1764100000000 } from './1764100000000-user-counts.js';
import { IdempotentRequests1764300000000 } from './1764300000000-idempotent-requests.js';
import { FewerIndexes1764400000000 } from './1764400000000-fewer-indexes.js';
import { NarrowKeys1764500000000 } from './1764500000000-narrow-keys.js';
import { RightsAndFuses1764550000000 } from './1764550000000-rights-and-fuses.js';
import { AuditSeals1764600000000 } from './1764600000000-audit-seals.js';
import { LoginAddresses1764700000000 } from './1764700000000-login-addresses.js';
import { ProvableSeals1764710000000 } from './1764710000000-provable-seals.js';
import { KeyFamilies1764720000000 } from './1764720000000-key-families.js';
import { ImportProfiles1764820000000 } from './1764820000000-import-profiles.js';
import { LeaversAndParts1764830000000 } from './1764830000000-leavers-and-parts.js';
import { ImportReport1764840000000 } from './1764840000000-import-report.js';
import { ImportAlerts1764850000000 } from './1764850000000-import-alerts.js';
import { Scim1764900000000 } from './1764900000000-scim.js';
import { KeyProfiles1764910000000 } from './1764910000000-key-profiles.js';
import { AuditCounts1765000000000 } from './1765000000000-audit-counts.js';
import { ImportLookups1765100000000 } from './1765100000000-import-lookups.js';

/** In the order in which they run. One set for every engine. */
export const MIGRATIONS = [
  Users1763600000000,
  Access1763600001000,
  Imports1763600002000,
  Changes1763600003000,
  NoChanges1764000000000,
  UserCounts1764100000000,
  IdempotentRequests1764300000000,
  FewerIndexes1764400000000,
  NarrowKeys1764500000000,
  RightsAndFuses1764550000000,
  AuditSeals1764600000000,
  LoginAddresses1764700000000,
  ProvableSeals1764710000000,
  KeyFamilies1764720000000,
  ImportProfiles1764820000000,
  LeaversAndParts1764830000000,
  ImportReport1764840000000,
  ImportAlerts1764850000000,
  Scim1764900000000,
  KeyProfiles1764910000000,
  AuditCounts1765000000000,
  ImportLookups1765100000000,
];
