import { isObject } from '../../platform/common/json.js';
import { fold, truncated } from '../../platform/common/text.js';
import { type Attributes, localPart } from './formats.js';
import { valueKey } from './keys.js';
import type { UserValueEntity, UserWordEntity } from './user-lookups.entity.js';
import type { User } from './user.js';

/** Attributes by which identity providers look for users, beside the columns. */
const LOOKED_UP = ['displayName', 'employeeNumber', 'department', 'manager'] as const;

/** The name to display, as it was sent; empty for none. */
function displayNameOf({ displayName }: Attributes): string {
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

const MAX_WORD = 255;
const PUNCTUATION_AT_ENDS = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;
const PUNCTUATION = /[^\p{L}\p{N}]+/u;

/** Weight of a match: a name counts more than a login name, and that more than an id. */
const NAME = 4;
const LOGIN = 2;
const ID = 1;

/** Attributes come as they were sent: no column holds what is left out here. */
const storable = (text: string): string => text.toWellFormed().replaceAll('\0', ' ');

/** The words of a search term or of a field: folded, split at white space, without punctuation at their ends. */
export function wordsIn(text: string): string[] {
  return fold(text)
    .split(/\s+/u)
    .map((word) => truncated(word.replace(PUNCTUATION_AT_ENDS, ''), MAX_WORD))
    .filter((word) => word !== '');
}

/** As `wordsIn`, with the parts of compound words: `smith-jones` is found by `jones` too. */
function wordsAndParts(text: string): string[] {
  return wordsIn(text).flatMap((word) => [word, ...word.split(PUNCTUATION).filter((part) => part !== '')]);
}

/** The fields that words are made of, beside the name to display. */
const WORDED = [
  'firstname',
  'middle_name',
  'surname',
  'known_as',
  'username',
  'email',
  'hide_email',
  'external_id',
] as const satisfies (keyof User)[];

/** Whether two states of a user have the same words. */
export function hasSameWords(before: User, after: User): boolean {
  return (
    WORDED.every((field) => before[field] === after[field]) &&
    displayNameOf(before.attributes) === displayNameOf(after.attributes)
  );
}

/**
 * The rows by which a user is found, one a word. A word has no public weight in an e-mail that is hidden, nor in the name to
 * display: other users see no attributes.
 */
export function wordRows(
  user: Pick<User, 'uuid' | 'attributes' | (typeof WORDED)[number]>,
): UserWordEntity[] {
  const rows = new Map<string, UserWordEntity>();
  const add = (words: string[], weight: number, hidden = false): void => {
    for (const word of words) {
      const row = rows.get(word) ?? { word, user_uuid: user.uuid, weight: 0, public_weight: 0 };
      row.weight = Math.max(row.weight, weight);
      row.public_weight = Math.max(row.public_weight, hidden ? 0 : weight);
      rows.set(word, row);
    }
  };
  for (const name of [user.firstname, user.middle_name, user.surname, user.known_as])
    add(wordsAndParts(name), NAME);
  add(wordsAndParts(user.username), LOGIN);
  add([...wordsIn(user.email), ...wordsIn(localPart(user.email))], LOGIN, user.hide_email);
  add(wordsIn(user.external_id), ID);
  const displayName = displayNameOf(user.attributes);
  if (displayName !== '') add(wordsAndParts(storable(displayName)), NAME, true);
  return [...rows.values()];
}
