import { exactKey, loginKey, sortKey } from './keys.js';
import type { User } from './user.js';
import type { UserEntity } from './user.entity.js';

/** The row of a user: its documents closed, its key and sort columns computed. */
export function toRow(user: User): UserEntity {
  return {
    ...user,
    username_key: loginKey(user.username),
    email_key: loginKey(user.email),
    external_id_key: user.external_id === '' ? null : exactKey(user.external_id),
    roles: JSON.stringify(user.roles),
    firstname_sort: sortKey(user.firstname),
    surname_sort: sortKey(user.surname),
    authname: document(user.authname),
    social_media: document(user.social_media),
    hide_email: Number(user.hide_email),
    hide_phone_numbers: Number(user.hide_phone_numbers),
  };
}

function document(value: object): string | null {
  return Object.keys(value).length === 0 ? null : JSON.stringify(value);
}
