import fc from 'fast-check';
import type { Json } from '../app/client.js';
import { ENTERPRISE, ROLLCALL } from '../app/scim.js';

/** Attribute names in bodies, paths and filters of SCIM requests, valid and invalid. */
const NAMES = [
  ...`userName externalId name name.givenName displayName active emails phoneNumbers photos roles password groups
    addresses x509Certificates meta meta.created id schemas __proto__ constructor prototype toString a.b.c [`.split(
    /\s+/,
  ),
  ENTERPRISE,
  ROLLCALL,
  `${ENTERPRISE}:manager`,
  `${ROLLCALL}:authname`,
  `${ROLLCALL}:socialMedia`,
  'emails[type eq "work"]',
  'emails[type eq "work"].value',
  'roles[value eq "x"]',
  '',
];
const ROLES = 'urn:ietf:params:scim:schemas:extension:rollcall:2.0:Group:roles';
export const SORT_ATTRIBUTES = ['id', 'externalId', 'displayName', 'meta.created', 'meta.lastModified'];
export const name = fc.oneof(fc.constantFrom(...NAMES), fc.string());
// prettier-ignore
const TEXTS = [
  '', 'True', 'False', 'a@example.org', 'http://x.example/', '\u0000', '\ud800', 'x'.repeat(300),
  'ﬃ', 'İ', 'é\u0301', '𝒳', '-0', 'hasOwnProperty',
  '00000000-0000-4000-8000-00000000dead',
];
export const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 20 }), fc.constantFrom(...TEXTS));
export const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.boolean(),
    fc.double(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.oneof(name, fc.constantFrom('value', 'type', 'primary', 'method', '$ref')),
      tie('value'),
      { maxKeys: 4 },
    ),
  ),
}));
export const body = fc.dictionary(name, value, { maxKeys: 6 });
/** Paths of PATCH operations on users with a valid value. */
const VALID_OPERATIONS: readonly (readonly [string, Json])[] = [
  ['nickName', 'n'],
  ['name', { givenName: 'g' }],
  ['name.familyName', 'f'],
  ['active', 'True'],
  ['emails', [{ value: 'x@example.org', type: 'home', primary: true }]],
  ['emails[type eq "work"].value', 'w@example.org'],
  ['emails[type eq "home" and primary eq true]', { display: 'd' }],
  ['phoneNumbers', { value: '1', type: 'mobile' }],
  ['phoneNumbers.type', 'work'],
  ['addresses[type eq "work"].locality', 'Oslo'],
  ['roles', [{ value: 'Editor' }]],
  [`${ENTERPRISE}:manager`, '00000000-0000-4000-8000-00000000dead'],
  [ENTERPRISE, { department: 'd', costCenter: null }],
  [`${ROLLCALL}:authname`, [{ method: 'saml', value: 's' }]],
];
const sound = fc
  .tuple(
    fc.constantFrom('add', 'replace', 'Remove'),
    fc.constantFrom(...VALID_OPERATIONS),
    fc.option(fc.nat(), { freq: 4 }),
  )
  .map(([op, [path, given], bare]) =>
    bare === null
      ? { op: op.replace('Remove', 'add'), value: { [path]: given } }
      : { op, path, value: given },
  );
const faulty = fc.record(
  { op: fc.oneof(fc.constantFrom('add', 'Replace', 'remove'), text), path: name, value },
  { requiredKeys: [] },
);
export const operation = fc.oneof({ weight: 4, arbitrary: sound }, { weight: 1, arbitrary: faulty });
const word = fc.oneof(
  name,
  fc.constantFrom(...'eq ne co sw gt le pr and or not ( ) [ ] "x" " true null 1'.split(' ')),
);
/** Filter conditions that parse. */
const condition = fc
  .tuple(
    fc.constantFrom(
      ...'userName displayName externalId id meta.created emails emails.type active'.split(' '),
    ),
    fc.constantFrom('eq', 'ne', 'co', 'sw', 'gt', 'le', 'pr'),
    fc.oneof(text, fc.constantFrom('2026-01-01T00:00:00Z', 'true', 'f')),
  )
  .map(([path, op, operand]) => (op === 'pr' ? `${path} pr` : `${path} ${op} ${JSON.stringify(operand)}`));
const { joined } = fc.letrec<{ joined: string }>((tie) => ({
  joined: fc.oneof(
    { maxDepth: 3 },
    condition,
    fc.tuple(tie('joined'), fc.constantFrom('and', 'or'), tie('joined')).map((three) => three.join(' ')),
    tie('joined').map((inner) => `not (${inner})`),
    fc
      .tuple(fc.constantFrom('emails', 'roles'), text)
      .map(([of, v]) => `${of}[value eq ${JSON.stringify(v)}]`),
  ),
}));
export const filter = fc.oneof(
  { weight: 4, arbitrary: joined },
  fc.array(word, { maxLength: 8 }).map((words) => words.join(' ')),
  fc
    .tuple(fc.constantFrom(...NAMES), fc.constantFrom('eq', 'sw', 'gt', 'ne', 'co'), text)
    .map(([path, op, operand]) => `${path} ${op} ${JSON.stringify(operand)}`),
);
/** Attribute names of groups. */
const GROUP_NAMES = ['displayName', 'externalId', 'members', 'members.value', 'members[value eq "x"]', ROLES];
export const groupBody = fc
  .tuple(body, fc.dictionary(fc.constantFrom(...GROUP_NAMES), value, { maxKeys: 3 }))
  .map(([any, own]) => ({ ...any, ...own }));
/** A member: an existing user, whose placeholder a test replaces, or an unknown user. */
const member = fc
  .constantFrom('<user>', '00000000-0000-4000-8000-00000000dead', 'x')
  .map((of) => ({ value: of }));
const soundOfGroups = fc.oneof(
  fc.record({
    op: fc.constantFrom('add', 'Replace', 'remove'),
    path: fc.constant('members'),
    value: fc.array(member, { maxLength: 3 }),
  }),
  member.map((one) => ({ op: 'remove', path: `members[value eq "${one.value}"]` })),
  text.map((given) => ({ op: 'replace', value: { externalId: given } })),
);
export const groupOperation = fc.oneof(
  { weight: 3, arbitrary: soundOfGroups },
  {
    weight: 2,
    arbitrary: fc
      .tuple(operation, fc.option(fc.constantFrom(...GROUP_NAMES)))
      .map(([sent, path]): object => (path === null ? sent : { ...sent, path })),
  },
);
/**
 * Mostly valid bulk operations on existing users and groups, on ones that the same request creates, and on unknown
 * ones.
 */
export const bulkOperation = fc
  .record({
    method: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom('POST', 'PUT', 'PATCH', 'Delete') },
      { weight: 1, arbitrary: value },
    ),
    type: fc.constantFrom('/Users', '/Groups'),
    target: fc.constantFrom('own', 'bulkId:a', 'bulkId:b', 'unknown', ''),
    bulkId: fc.oneof({ weight: 4, arbitrary: fc.constantFrom('a', 'b', 'c') }, value),
    data: fc.oneof(
      body.map((sent) => ({ userName: `b${Math.random()}@example.org`, ...sent })),
      groupBody.map((sent) => ({ displayName: `b${Math.random()}`, ...sent })),
      fc.array(fc.oneof(operation, groupOperation), { maxLength: 3 }),
      fc
        .constantFrom('a', 'b')
        .map((of) => ({ displayName: `b${Math.random()}`, members: [{ value: `bulkId:${of}` }] })),
      value,
    ),
    more: fc.oneof(
      { weight: 3, arbitrary: fc.constant({}) },
      fc.dictionary(fc.constantFrom('version', 'path', 'data', '__proto__'), value, { maxKeys: 2 }),
    ),
  })
  .map(({ method, type, target, bulkId, data, more }) => ({
    method,
    path: method === 'POST' ? type : `${type}/${target === 'own' ? placeholderOf(type) : target}`,
    bulkId,
    data,
    ...more,
  }));
/** Returns the placeholder of the existing user or group. `fillPlaceholders` redirects a DELETE of it to an unknown user. */
const placeholderOf = (type: string): string => (type === '/Users' ? '<user>' : '<group>');
export const fillPlaceholders = (sent: object, id: string, group: string): object =>
  JSON.parse(
    JSON.stringify(sent, (_, part: Json) =>
      typeof part === 'object' && part?.method === 'Delete' ? { ...part, path: '/Users/unknown' } : part,
    )
      .replaceAll('<user>', id)
      .replaceAll('<group>', group),
  ) as object;
/** Returns a damaged or forged form of a cursor. @param how selects the form. */
export function tamper(cursor: string, how: number, odd: string): string {
  const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as string[];
  const written = (...of: string[]) => Buffer.from(JSON.stringify(of)).toString('base64url');
  const all = [
    cursor,
    cursor.slice(how % 7),
    `${cursor}${odd}`,
    Buffer.from(odd).toString('base64url'),
    written(...parts.slice(0, 1), odd, odd),
    written(...parts.slice(0, -1), odd),
  ];
  return all[how % all.length] ?? '';
}
export const encodeQuery = (sent: string): string => encodeURIComponent(sent.toWellFormed());
