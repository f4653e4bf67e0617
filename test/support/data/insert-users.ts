import { v7 as uuidv7 } from 'uuid';
import { type Sql, insertRows } from '../../../src/platform/database/engine/sql.js';
import { identifiersOf } from '../../../src/users/model/comparison-keys.js';
import { type User, toUserRow, toValueRows, toWordRows } from '../../../src/users/model/user.js';
import {
  UserCountEntity,
  UserIdentifierEntity,
  UserRoleEntity,
  UserValueEntity,
  UserWordEntity,
} from '../../../src/users/model/user-lookups.entity.js';
import { UserEntity } from '../../../src/users/model/user.entity.js';

/** Inserts users into all tables of the user writer, without its checks and audit events. */
export async function insertUsers(sql: Sql, users: readonly User[]): Promise<void> {
  await insertRows(sql, UserEntity, users.map(toUserRow));
  await insertRows(sql, UserIdentifierEntity, users.flatMap(toIdentifierRows));
  await insertRows(sql, UserRoleEntity, users.flatMap(toRoleRows));
  await insertRows(sql, UserWordEntity, users.flatMap(toWordRows));
  await insertRows(sql, UserValueEntity, users.flatMap(toValueRows));
  for (const status of ['Active', 'Blocked']) {
    const added = users.filter((user) => user.status === status).length;
    await insertRows(sql, UserCountEntity, [{ id: uuidv7(), name: status, value: added }]);
  }
}

const toIdentifierRows = (user: User): UserIdentifierEntity[] =>
  identifiersOf(user).map(({ identifier }) => ({ identifier, user_uuid: user.uuid }));
const toRoleRows = ({ roles, uuid }: User): UserRoleEntity[] =>
  roles.map((role) => ({ role, user_uuid: uuid }));
