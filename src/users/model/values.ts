import { isObject } from '../../platform/common/json.js';
import type { Attributes } from './formats.js';
import { valueKey } from './keys.js';
import type { UserValueEntity } from './user-lookups.entity.js';
import type { User } from './user.js';

/** Attributes by which identity providers look for users, beside the columns. */
const LOOKED_UP = ['displayName', 'employeeNumber', 'department', 'manager'] as const;

/** The name to display, as it was sent; empty for none. */
export function displayNameOf({ displayName }: Attributes): string {
  return typeof displayName === 'string' ? displayName : '';
}

/**
 * The rows by which a user is found by its attributes, one a value: those of `LOOKED_UP`, and as `emails` the addresses
 * that have no column. Without attributes there are none.
 */
export function valueRows({ uuid, attributes }: Pick<User, 'uuid' | 'attributes'>): UserValueEntity[] {
  const rows = new Map<string, UserValueEntity>();
  const add = (attribute: string, value: unknown): void => {
    const key = typeof value === 'string' ? valueKey(value) : '';
    if (key !== '') rows.set(`${attribute} ${key}`, { attribute, value_key: key, user_uuid: uuid });
  };
  for (const attribute of LOOKED_UP) add(attribute, attributes[attribute]);
  const { emails } = attributes;
  if (Array.isArray(emails)) for (const email of emails) if (isObject(email)) add('emails', email['value']);
  return [...rows.values()];
}
