import type { User, UserInput } from '../../api/client.js';

/** The values of a profile as a form has them: text, lists and ticks. */
export type Value = string | boolean | readonly string[];
export type Draft = Record<string, Value>;

const NETWORKS = ['facebook', 'linkedin', 'twitter'] as const;
const LINES = [
  'username',
  'email',
  'external_id',
  'firstname',
  'middle_name',
  'surname',
  'known_as',
] as const;
const CONTACTS = ['phone', 'mobile'] as const;
const TICKS = ['hide_email', 'hide_phone_numbers'] as const;

/** What users may change of themselves (docs/interface.md, section 3). */
const OWN = ['known_as', 'phone', 'mobile', 'user_avatar', 'about_me', 'social_media', ...TICKS];

export const mayEdit = (field: string, isFull: boolean): boolean =>
  isFull || OWN.includes(field.split('.')[0] ?? '');

/** The picture that the service shows for users without one. */
const DEFAULT_PICTURE = '/assets/default-avatar.svg';

/** Login names, one a line: `saml: jane.doe@idp.example.org`. */
const namesOf = (authname: User['authname']): string =>
  Object.entries(authname ?? {})
    .flatMap(([method, names]) => names.map((name) => `${method}: ${name}`))
    .join('\n');

function authnameOf(text: string): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
    const [, method = '', name = line] = /^\s*([^:\s]+)\s*:\s*(.*)$/.exec(line) ?? [];
    (found[method] ??= []).push(name.trim());
  }
  return found;
}

export function draftOf(user: User): Draft {
  const draft: Draft = {};
  for (const name of [...LINES, ...CONTACTS]) draft[name] = user[name];
  draft['manager_uuid'] = user.manager_uuid ?? '';
  draft['user_avatar'] = user.user_avatar.endsWith(DEFAULT_PICTURE) ? '' : user.user_avatar;
  draft['about_me'] = user.about_me;
  for (const network of NETWORKS) draft[`social_media.${network}`] = user.social_media[network] ?? '';
  draft['authname'] = namesOf(user.authname);
  draft['roles'] = user.roles.toSorted();
  for (const name of TICKS) draft[name] = user[name];
  return draft;
}

const same = (a: Value | undefined, b: Value | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The fields whose values differ. */
export const differing = (a: Draft, b: Draft): string[] =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((field) => !same(a[field], b[field]));

/** What to send: the fields that were changed, and no others. */
export function inputOf(base: Draft, draft: Draft): UserInput {
  const input: Record<string, unknown> = {};
  for (const field of differing(base, draft)) {
    const value = draft[field];
    const [name = '', part] = field.split('.');
    if (part) input[name] = { ...(input[name] as object | undefined), [part]: value };
    else if (field === 'manager_uuid') input[field] = value === '' ? null : value;
    else if (field === 'authname')
      input[field] = { ...emptied(String(base[field])), ...authnameOf(String(value)) };
    else input[field] = value;
  }
  return input;
}

/** Methods that are not named stay: those that were there are named. */
const emptied = (text: string): Record<string, string[]> =>
  Object.fromEntries(Object.keys(authnameOf(text)).map((method) => [method, []]));

/** A field that another operator has changed meanwhile. */
export interface Conflict {
  field: string;
  /** When this operator opened the profile, as the other one left it, and as this one wants it. */
  before: Value | undefined;
  theirs: Value | undefined;
  mine: Value | undefined;
  /** Whether this operator has changed it too, to something else. */
  isBoth: boolean;
}

/** What has happened between the opening of a profile and its saving. */
export const conflictsOf = (base: Draft, theirs: Draft, mine: Draft): Conflict[] =>
  differing(base, theirs).map((field) => ({
    field,
    before: base[field],
    theirs: theirs[field],
    mine: mine[field],
    isBoth: !same(base[field], mine[field]) && !same(theirs[field], mine[field]),
  }));

/** The draft on top of what others have saved. @param keep the fields in which this operator's value goes before theirs. */
export const rebased = (base: Draft, theirs: Draft, mine: Draft, keep: readonly string[]): Draft => ({
  ...theirs,
  ...Object.fromEntries(
    differing(base, mine)
      .filter((field) => same(base[field], theirs[field]) || keep.includes(field))
      .map((field) => [field, mine[field] ?? '']),
  ),
});
