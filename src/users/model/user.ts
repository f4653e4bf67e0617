import type { UserEntity } from './user.entity.js';

/** Method → login names of that method. */
export type Authname = Record<string, string[]>;

export const NETWORKS = ['facebook', 'linkedin', 'twitter'] as const;
/** Network → URL; a network that is not there is not set. */
export type SocialMedia = Partial<Record<(typeof NETWORKS)[number], string>>;

type Status = 'Active' | 'Blocked';

/** A user as the rules see it: the row with its documents opened and without its computed columns. */
export interface User {
  uuid: string;
  username: string;
  email: string;
  external_id: string;
  roles: readonly string[];
  status: Status;
  phone: string;
  mobile: string;
  firstname: string;
  middle_name: string;
  surname: string;
  known_as: string;
  authname: Readonly<Authname>;
  password_hash: string | null;
  user_avatar: string;
  manager_uuid: string | null;
  about_me: string;
  social_media: Readonly<SocialMedia>;
  hide_email: boolean;
  hide_phone_numbers: boolean;
  managed_by: string | null;
  created: string;
  updated: string;
  last_access: string | null;
  version: number;
}

/** Fields of a user in which a change is a change: in the order in which audit rows list them. */
export const CHANGEABLE = [
  'username',
  'email',
  'external_id',
  'roles',
  'status',
  'phone',
  'mobile',
  'firstname',
  'middle_name',
  'surname',
  'known_as',
  'authname',
  'password_hash',
  'user_avatar',
  'manager_uuid',
  'about_me',
  'social_media',
  'hide_email',
  'hide_phone_numbers',
  'managed_by',
] as const satisfies (keyof User)[];

/** The columns of a row that hold a user; the rest is computed from them. */
export type UserRow = Omit<
  UserEntity,
  'username_key' | 'email_key' | 'external_id_key' | 'firstname_sort' | 'surname_sort'
>;

export const USER_COLUMNS: readonly (keyof UserRow)[] = [
  'uuid',
  ...CHANGEABLE,
  'created',
  'updated',
  'last_access',
  'version',
];

export function toUser(row: UserRow): User {
  return {
    ...row,
    roles: JSON.parse(row.roles) as string[],
    status: row.status as Status,
    authname: document(row.authname) as Authname,
    social_media: document(row.social_media),
    hide_email: row.hide_email === 1,
    hide_phone_numbers: row.hide_phone_numbers === 1,
  };
}

function document(json: string | null): object {
  return json === null ? {} : (JSON.parse(json) as object);
}
