import type { MigrationInterface } from 'typeorm';
import { Users1795600000000 } from './1795600000000-users.js';
import { Groups1795600001000 } from './1795600001000-groups.js';
import { Sessions1795600002000 } from './1795600002000-sessions.js';
import { ApiKeys1795600003000 } from './1795600003000-api-keys.js';
import { Audit1795600004000 } from './1795600004000-audit.js';
import { Imports1795600005000 } from './1795600005000-imports.js';
import { IdempotentRequests1795600006000 } from './1795600006000-idempotent-requests.js';
import { Leases1795600007000 } from './1795600007000-leases.js';
import { Installation1795600008000 } from './1795600008000-installation.js';
import { LoginDevices1795600009000 } from './1795600009000-login-devices.js';
import { ImportWords1795600010000 } from './1795600010000-import-words.js';
import { GeneratedPasswords1795600011000 } from './1795600011000-generated-passwords.js';
import { SearchWords1795600012000 } from './1795600012000-search-words.js';
import { ReleasedUsernames1795600013000 } from './1795600013000-released-usernames.js';
import { ImportCorrections1795600014000 } from './1795600014000-import-corrections.js';
import { BulkChanges1795600015000 } from './1795600015000-bulk-changes.js';
import { ImportWaits1795600016000 } from './1795600016000-import-waits.js';

export const MIGRATIONS: (new () => MigrationInterface)[] = [
  Users1795600000000,
  Groups1795600001000,
  Sessions1795600002000,
  ApiKeys1795600003000,
  Audit1795600004000,
  Imports1795600005000,
  IdempotentRequests1795600006000,
  Leases1795600007000,
  Installation1795600008000,
  LoginDevices1795600009000,
  ImportWords1795600010000,
  GeneratedPasswords1795600011000,
  SearchWords1795600012000,
  ReleasedUsernames1795600013000,
  ImportCorrections1795600014000,
  BulkChanges1795600015000,
  ImportWaits1795600016000,
];
