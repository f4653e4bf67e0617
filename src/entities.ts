import { ApiKeyEntity, KeyDeactivationEntity, KeyFuseEntity } from './api-keys/api-key.entity.js';
import {
  AuditCountEntity,
  AuditEventEntity,
  AuditLateEventEntity,
  AuditRunEntity,
  AuditSealEntity,
} from './audit/audit.entity.js';
import { ImportProfileEntity } from './import/mapping/import-profile.entity.js';
import { ImportFilePartEntity, ImportRowEntity, ImportRunEntity } from './import/runs/import.entity.js';
import { InstallationEntity } from './platform/database/installation/installation.entity.js';
import { LeaseEntity } from './platform/database/leases/lease.entity.js';
import { LoginDeviceEntity, LoginFailureEntity } from './sessions/login.entity.js';
import { SessionEntity } from './sessions/session.entity.js';
import { IdempotencyEntity } from './idempotency/idempotency.entity.js';
import { GroupEntity, GroupMemberEntity } from './groups/group.entity.js';
import { DeletedUserEntity } from './users/model/deleted-user.entity.js';
import { UserEntity } from './users/model/user.entity.js';
import {
  ReleasedUsernameEntity,
  UserCountEntity,
  UserIdentifierEntity,
  UserRoleEntity,
  UserRuleEntity,
  UserValueEntity,
  UserWordEntity,
} from './users/model/user-lookups.entity.js';

/** All tables of the service. A test compares this list with the tables that the migrations create. */
export const ENTITIES = [
  UserEntity,
  UserIdentifierEntity,
  UserRoleEntity,
  UserWordEntity,
  UserValueEntity,
  UserCountEntity,
  UserRuleEntity,
  DeletedUserEntity,
  ReleasedUsernameEntity,
  GroupEntity,
  GroupMemberEntity,
  IdempotencyEntity,
  SessionEntity,
  LoginFailureEntity,
  LoginDeviceEntity,
  ApiKeyEntity,
  KeyDeactivationEntity,
  KeyFuseEntity,
  AuditEventEntity,
  AuditRunEntity,
  AuditSealEntity,
  AuditLateEventEntity,
  AuditCountEntity,
  ImportRunEntity,
  ImportRowEntity,
  ImportFilePartEntity,
  ImportProfileEntity,
  LeaseEntity,
  InstallationEntity,
];
