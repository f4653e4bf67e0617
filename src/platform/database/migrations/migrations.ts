import type { MigrationInterface } from 'typeorm';
import { Users1795600020000 } from './1795600020000-users.js';
import { Groups1795600021000 } from './1795600021000-groups.js';
import { Sessions1795600022000 } from './1795600022000-sessions.js';
import { IdempotentRequests1795600026000 } from './1795600026000-idempotent-requests.js';
import { Installation1795600027000 } from './1795600027000-installation.js';
import { Imports1795600028000 } from './1795600028000-imports.js';
import { ApiKeys1795600029000 } from './1795600029000-api-keys.js';
import { Audit1795600030000 } from './1795600030000-audit.js';

export const MIGRATIONS: (new () => MigrationInterface)[] = [
  Users1795600020000,
  Groups1795600021000,
  Sessions1795600022000,
  IdempotentRequests1795600026000,
  Installation1795600027000,
  Imports1795600028000,
  ApiKeys1795600029000,
  Audit1795600030000,
];
