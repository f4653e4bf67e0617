import type { User, UserInput } from '../../api/client.js';

/** Value of a form field: text, a list or a check mark. */
export type Value = string | boolean | readonly string[];
export type Draft = Record<string, Value>;

/** Fields of the social networks. */
export const NETWORKS = ['social_media.linkedin', 'social_media.facebook', 'social_media.twitter'] as const;
export const LINES = [
  'username',
  'email',
  'external_id',
  'firstname',
  'middle_name',
  'surname',
  'known_as',
  'phone',
  'mobile',
] as const;
/** Texts with an input of their own. */
export const OTHER_TEXTS = ['manager_uuid', 'user_avatar', 'about_me', 'authname'] as const;
export const CHECKBOXES = ['hide_email', 'hide_phone_numbers'] as const;

/** Fields that users may change in their own profile (docs/interface.md, section 3). */
const SELF_SERVICE_FIELDS = [
  'known_as',
  'phone',
  'mobile',
  'user_avatar',
  'about_me',
  'social_media',
  ...CHECKBOXES,
];

export const canEdit = (field: string, isFull: boolean): boolean =>
  isFull || SELF_SERVICE_FIELDS.includes(field.split('.')[0] ?? '');

/** Picture of users without their own picture. */
const DEFAULT_PICTURE = '/assets/default-avatar.svg';

/** Formats login names, one per line: `saml: jane.doe@idp.example.org`. */
const formatAuthname = (authname: User['authname']): string =>
  Object.entries(authname ?? {})
    .flatMap(([method, names]) => names.map((name) => `${method}: ${name}`))
    .join('\n');

function parseAuthname(text: string): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
    const [, method = '', name = line] = /^\s*([^:\s]+)\s*:\s*(.*)$/.exec(line) ?? [];
    (found[method] ??= []).push(name.trim());
  }
  return found;
}

export function toDraft(user: User): Draft {
  const draft: Draft = {};
  for (const name of LINES) draft[name] = user[name];
  draft['manager_uuid'] = user.manager_uuid ?? '';
  draft['user_avatar'] = user.user_avatar.endsWith(DEFAULT_PICTURE) ? '' : user.user_avatar;
  draft['about_me'] = user.about_me;
  for (const field of NETWORKS)
    draft[field] = user.social_media[field.slice('social_media.'.length) as 'linkedin'] ?? '';
  draft['authname'] = formatAuthname(user.authname);
  draft['roles'] = user.roles.toSorted();
  for (const name of CHECKBOXES) draft[name] = user[name];
  return draft;
}

/** The form of a new user, with the default role. */
export const EMPTY_DRAFT: Draft = {
  ...Object.fromEntries([...LINES, ...NETWORKS, ...OTHER_TEXTS].map((name) => [name, ''])),
  roles: ['Organisational user'],
  ...Object.fromEntries(CHECKBOXES.map((name) => [name, false])),
};

const isEqual = (a: Value | undefined, b: Value | undefined): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

/** Returns the fields whose values differ. */
export const findDifferences = (a: Draft, b: Draft): string[] =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((field) => !isEqual(a[field], b[field]));

/** Builds the request body from the changed fields. */
export function toInput(base: Draft, draft: Draft): UserInput {
  const input: Record<string, unknown> = {};
  for (const field of findDifferences(base, draft)) {
    const value = draft[field];
    const [name = '', part] = field.split('.');
    if (part) input[name] = { ...(input[name] as object | undefined), [part]: value };
    else if (field === 'manager_uuid') input[field] = value === '' ? null : value;
    else if (field === 'authname')
      input[field] = { ...clearProviders(String(base[field])), ...parseAuthname(String(value)) };
    else input[field] = value;
  }
  return input;
}

/** Returns an empty list for every previous provider, because the API keeps providers that the body omits. */
const clearProviders = (text: string): Record<string, string[]> =>
  Object.fromEntries(Object.keys(parseAuthname(text)).map((method) => [method, []]));

/** A field that was changed by someone else while the form was open. */
export interface Conflict {
  field: string;
  /** Value when the form was opened. */
  before: Value | undefined;
  /** Value that was saved meanwhile. */
  theirs: Value | undefined;
  /** Value in the form. */
  mine: Value | undefined;
  /** True if the form contains a different change of the same field. */
  isBoth: boolean;
}

/** Finds the fields that were changed by someone else while the form was open. */
export const findConflicts = (base: Draft, theirs: Draft, mine: Draft): Conflict[] =>
  findDifferences(base, theirs).map((field) => ({
    field,
    before: base[field],
    theirs: theirs[field],
    mine: mine[field],
    isBoth: !isEqual(base[field], mine[field]) && !isEqual(theirs[field], mine[field]),
  }));

/** Applies the changes in the form to the newer version. @param keep conflicting fields in which the form value is kept. */
export const rebaseDraft = (base: Draft, theirs: Draft, mine: Draft, keep: readonly string[]): Draft => ({
  ...theirs,
  ...Object.fromEntries(
    findDifferences(base, mine)
      .filter((field) => isEqual(base[field], theirs[field]) || keep.includes(field))
      .map((field) => [field, mine[field] ?? '']),
  ),
});
