import { describe, expect, test } from '@jest/globals';
import { GUARDS } from '../../src/import/guards/guard-table.js';
import type { User } from '../../src/users/model/user.js';
import {
  type Edit,
  type Night,
  createStaff,
  edit,
  listHits,
  planNight,
  toChange,
} from '../support/data/guard-plan.js';

/** The changes of a night, the state before it, and other properties of its plan. */
type Story = [make: Edit, setUp?: Edit, more?: More];
type Stories = Readonly<Record<string, Story>>;
type More = Partial<Night> | ((night: Night) => Partial<Night> | Promise<Partial<Night>>);

const SIZE = 200;
const SAME: Edit = {};
const BLOCKED = { status: 'Blocked' } as const;

async function build([make, setUp = SAME, more = {}]: Story): Promise<Night> {
  const before = edit(createStaff(SIZE), setUp);
  const night: Night = { before, file: edit(before, make) };
  return { ...night, ...(typeof more === 'function' ? await more(night) : more) };
}

/** Changes one of every `n` users. */
const nth = (n: number, make: Edit): Edit => {
  return (user, i, all) => (i % n === n - 1 ? toChange(make)(user, i, all) : {});
};
const only = (at: number, make: Edit): Edit => range(at, at + 1, make);
const range = (from: number, to: number, make: Edit): Edit => {
  return (user, i, all) => (i >= from && i < to ? toChange(make)(user, i, all) : {});
};
/** Takes columns from another row, so that they are shifted by `by` rows. */
const shift = (by: number, ...fields: (keyof User)[]): Edit => {
  const take = (user: User | undefined) => fields.map((field) => [field, user?.[field] ?? '']);
  return (_, i, all) => Object.fromEntries(take(all.at((i + by) % all.length))) as Partial<User>;
};
const take = (user: User | undefined, field: keyof User): Partial<User> => ({ [field]: user?.[field] ?? '' });
/** Sorts one column of a range of rows. */
const sorted = (from: number, to: number, field: 'username' | 'surname' | 'firstname'): Edit =>
  range(from, to, (_, i, all) =>
    take(all.slice(from, to).sort((a, b) => (a[field] < b[field] ? -1 : 1))[i - from], field),
  );
const sortNames = sorted(0, SIZE, 'username');
const setPhone: Edit = (_, i) => ({ phone: `+1 555 ${i + 10_000}` });
const setMobile: Edit = (_, i) => ({ mobile: `+49 171 ${i + 9000}` });
const setOtherName: Edit = (_, i) => ({ firstname: `Xw${i}`, surname: `Qkj${i}`, username: `xw${i}` });
const setDomain: Edit = ({ username }) => ({ email: `${username}@sea.example` });
const exchangeNames: Edit = ({ firstname, surname }) => ({ firstname: surname, surname: firstname });
const toAscii = (text: string) => text.normalize('NFD').replace(/\P{ASCII}/gu, '');
const isNth = (n: number) => (user: User) => Number(user.uuid.slice(1)) % n === 0;
const LEFT_LONG_AGO = { ...BLOCKED, managed_by: null, blocked_by: 'default' };
const LEFT = { ...LEFT_LONG_AGO, updated: '2026-02-25 00:00:00.000' };
const PERSON: readonly (keyof User)[] = ['firstname', 'surname', 'username', 'email', 'authname', 'phone'];
const appended = (count: number, roles: string[], domain = 'lake.example'): More => ({
  file: edit(
    createStaff(SIZE + count),
    range(SIZE, SIZE + count, (user) => ({ roles, email: `${user.username}@${domain}` })),
  ),
});
/** After the changes of the night, the file of the night before is imported again. */
const comesBack: More = async (night) => ({
  before: night.file,
  file: night.before,
  past: [await planNight(night)],
});
/** Two nights change phones of different users. Then a file with new mobiles has the phones before the first `back` nights. */
const takesBackPhones =
  (back: 1 | 2): More =>
  async ({ before }) => {
    const first = edit(before, range(60, 68, setPhone));
    const second = edit(first, range(70, 78, setPhone));
    return {
      before: second,
      file: edit(back === 1 ? first : before, nth(10, setMobile)),
      past: [await planNight({ before: first, file: second }), await planNight({ before, file: first })],
    };
  };
/** A revert has undone the changes of the night. */
const isReverted: More = async ({ before, file }) => ({
  reverts: [await planNight({ before: file, file: before })],
});
const without = (...columns: string[]): More => ({ columns: ['ExternalId', 'Username', ...columns] });

/** Accidents by the guard that says most about them. */
const ACCIDENTS: Readonly<Record<string, Stories>> = {
  deactivations: {
    'every seventh user is missing': [nth(7, false)],
    'every seventh user is blocked by Status': [nth(7, BLOCKED)],
    'users are missing and others blocked': [(_, i) => (i % 13 === 1 ? false : i % 17 === 2 ? BLOCKED : {})],
  },
  lost_together: {
    'the tail of the file is missing': [range(180, SIZE, false)],
    'a page in the middle is missing': [range(80, 100, false)],
    'two pages are missing': [(_, i) => (Math.floor(i / 12) % 8 === 3 ? false : {})],
    'one site is missing': [nth(9, false), nth(9, setDomain)],
    'three teams are missing': [(_, i) => (Math.floor(i / 8) % 8 === 3 ? false : {})],
    'all holders of a role are missing': [({ roles }) => (roles.includes('Editor') ? false : {})],
    'the tail is missing, with blocked users in it': [
      ({ status }, i) => (i > 170 && status === 'Active' ? false : {}),
      nth(6, BLOCKED),
    ],
    'the file is empty': [false],
  },
  reactivations: {
    'all blocked users become active': [{ status: 'Active' }, nth(8, BLOCKED)],
    'half of the blocked users become active': [nth(16, { status: 'Active' }), nth(8, BLOCKED)],
    'users who left years ago return': [{ status: 'Active' }, nth(8, LEFT_LONG_AGO)],
  },
  created: {
    'applicants are in the file': [SAME, SAME, appended(90, ['Reader'])],
    'new users are editors': [SAME, SAME, appended(90, ['Editor'])],
    'other external ids are in the file': [
      SAME,
      SAME,
      { file: createStaff(2 * SIZE).slice(SIZE), missing: 'keep' },
    ],
  },
  role_holders: {
    'all editors lose their role': [{ roles: ['Reader'] }],
    'all users become editors': [{ roles: ['Reader', 'Editor'] }],
    'a role has another name': [
      ({ roles }) => ({ roles: roles.map((role) => role.replace('Editor', 'Author')) }),
    ],
    'fifteen new users are editors': [SAME, SAME, appended(15, ['Editor'])],
  },
  changed_field: {
    'a default phone is filled in': [{ phone: '+49 30 1' }],
    'a flag is inverted': [(user) => ({ hide_email: !user.hide_email }), nth(3, { hide_email: true })],
    'surnames become upper case': [({ surname }) => ({ surname: surname.toUpperCase() })],
    'all users get one class': [{ about_me: 'Class 9' }, (_, i) => ({ about_me: `Class ${i % 7}` })],
  },
  changed_logins: {
    'many users marry in one night': [nth(5, (_, i) => ({ surname: `Neu${i}`, username: `neu${i}` }))],
    'first names are cut in e-mails': [
      nth(6, (user, i) => ({ surname: `${user.surname} X`, email: `q${i}@lake.example` })),
    ],
    'authnames follow a new spelling': [
      nth(6, (user, i) => ({ firstname: `${user.firstname} X`, authname: { saml: [`x${i}`] } })),
    ],
  },
  shuffled_column: {
    'usernames are sorted separately': [sortNames],
    'surnames of one site are sorted separately': [sorted(40, 58, 'surname')],
    'forenames of one site are sorted separately': [sorted(100, 116, 'firstname')],
    'two people in each of six teams exchange their logins': [
      (_, i, all) => (i % 32 < 2 ? take(all[i ^ 1], 'username') : {}),
    ],
  },
  changed_logins_only: {
    'usernames get a prefix': [({ username }) => ({ username: `x-${username}` })],
    'some authnames become ids': [nth(10, (user) => ({ authname: { saml: [user.external_id] } }))],
    'e-mails are built in another way': [
      (user, i) => ({ email: `q${i}.${toAscii(user.firstname)}@lake.example` }),
    ],
  },
  changed_form: {
    'the e-mail domain changes': [setDomain],
    'one of twenty users gets another domain': [nth(20, setDomain)],
    'new users have another domain': [SAME, SAME, appended(12, ['Reader'], 'post.example')],
    'phones become text': [(_, i) => ({ phone: `room ${i}` })],
    'phones become dates': [(_, i) => ({ phone: `2020-01-${10 + (i % 20)}` })],
  },
  changed_managers: {
    'all users get one manager': [{ manager_uuid: 'm0' }],
    'managers are in a different order': [(_, i) => ({ manager_uuid: `m${(i * 7) % 20}` })],
    'every sixth user has a new manager': [nth(6, (_, i) => ({ manager_uuid: `n${i}` }))],
  },
  emptied_field: {
    'one site has no authnames': [range(40, 47, { authname: {} })],
    'a column is empty': [{ phone: '' }],
    'some managers are empty': [nth(7, { manager_uuid: null })],
    'authnames are empty': [{ authname: {} }],
  },
  other_person: {
    'ids are given to other people': [shift(57, ...PERSON)],
    'external ids slide by one row': [shift(-1, ...PERSON)],
    'ids of leavers are given to new people': [nth(25, setOtherName)],
    'ids slide in a file without names': [
      shift(1, 'username', 'email', 'authname'),
      SAME,
      without('Email', 'Authname'),
    ],
    'short authnames belong to other people': [
      shift(3, 'username', 'authname'),
      ({ surname, firstname }) => ({ username: surname, authname: { saml: [firstname.slice(0, 3)] } }),
      without('Authname'),
    ],
  },
  slid_column: {
    'phones slide down': [shift(-1, 'phone')],
    'phones slide up': [shift(1, 'phone')],
    'usernames slide up': [shift(1, 'username')],
    'a block of managers slides': [range(8, 120, shift(-1, 'manager_uuid'))],
    'ten e-mails slide': [range(20, 30, shift(-1, 'email'))],
    'a sparse column with a frequent value slides': [
      shift(-1, 'known_as'),
      nth(5, (_, i) => ({ known_as: i % 2 ? 'Sam' : `Kim${i}` })),
    ],
  },
  exchanged_values: {
    'forenames and surnames are exchanged': [exchangeNames],
    'phones and mobiles are exchanged': [
      ({ phone, mobile }) => ({ phone: mobile, mobile: phone }),
      setMobile,
    ],
    'a delimiter moves the cells of a few rows': [
      nth(25, (user) => ({ surname: user.firstname, known_as: user.surname })),
    ],
    'usernames contain the e-mail': [({ email }) => ({ username: email })],
  },
  garbled_text: {
    'accents are lost': [(user) => ({ firstname: toAscii(user.firstname), surname: toAscii(user.surname) })],
    'only forenames lose accents': [({ firstname }) => ({ firstname: toAscii(firstname) })],
    'accented letters are left out': [({ surname }) => ({ surname: surname.replace(/\P{ASCII}/gu, '') })],
  },
  unknown_word: {
    'a class has a new name': [SAME, SAME, { words: { known: 90, '10b': 12 } }],
    'the source is in another language': [BLOCKED, SAME, { words: { aktiv: SIZE } }],
    'long new words have few rows': [SAME, SAME, { words: { ['w'.repeat(800)]: 3, ['v'.repeat(800)]: 1 } }],
  },
  old_file: {
    'an old file takes phones back': [nth(10, setPhone), SAME, comesBack],
    'a new file contains old phones': [SAME, SAME, takesBackPhones(2)],
    'an old file lists users who left': [nth(15, BLOCKED), SAME, comesBack],
    'an old file lacks the new users': [
      SAME,
      SAME,
      async ({ before }) => ({
        before: createStaff(SIZE + 15),
        past: [await planNight({ before, file: createStaff(SIZE + 15) })],
      }),
    ],
  },
  foreign_dataset: {
    'the file has the wrong data set': [SAME, { managed_by: 'other' }],
    'every eighth user belongs to another data set': [SAME, nth(8, { managed_by: 'scim' })],
    'a new part takes a user of another part': [
      SAME,
      only(5, { managed_part: 'east' }),
      { part: 'west', past: [] },
    ],
  },
  errors: {
    'an eighth of the rows fails': [
      setPhone,
      SAME,
      { fails: isNth(8), missing: 'keep', file: createStaff(SIZE) },
    ],
    'all rows fail': [SAME, SAME, { fails: () => true }],
    'a third of the first file fails': [SAME, SAME, { before: [], past: [], fails: isNth(3) }],
  },
  after_revert: {
    'one phone change is repeated after a revert': [only(5, setPhone), SAME, isReverted],
    'a reverted file is imported again': [nth(10, setPhone), SAME, isReverted],
    'a reverted block is repeated': [only(5, BLOCKED), SAME, isReverted],
  },
};

const ORDINARY: Stories = {
  'three users leave': [nth(60, false)],
  'half of the users are missing but only reported': [nth(2, false), SAME, { missing: 'report' }],
  'some users leave and others get phones': [
    (user, i, all) => (i % 41 ? toChange(nth(10, setPhone))(user, i, all) : BLOCKED),
  ],
  'users who were missing last week return': [{ status: 'Active' }, nth(8, LEFT)],
  'two users come back': [{ status: 'Active' }, nth(90, BLOCKED)],
  'twenty users join': [SAME, SAME, appended(20, ['Reader'])],
  'the first file creates everyone': [SAME, SAME, { before: [], past: [] }],
  'three editors become authors': [nth(61, { roles: ['Reader', 'Author'] })],
  'all users get the default role': [{ roles: ['Reader'] }, { roles: [] }],
  'a column is filled for the first time': [setMobile],
  'managers are filled in for the first time': [
    (_, i) => ({ manager_uuid: `m${i % 9}` }),
    { manager_uuid: null },
  ],
  'authnames are filled in for the first time': [
    (_, i) => ({ authname: { saml: [`a${i}`] } }),
    { authname: {} },
  ],
  'a tenth of the users get phones': [nth(10, setPhone)],
  'users marry': [nth(40, (user, i) => ({ surname: `${user.surname}-Neu`, username: `neu${i}` }))],
  'logins change their case': [({ email }) => ({ email: email.toUpperCase() })],
  'five teams move as a whole': [
    ({ manager_uuid: old }, i) => ({ manager_uuid: i % 64 < 8 ? `n${old}` : old }),
  ],
  'a manager takes over two teams': [range(24, 40, { manager_uuid: 'm20' })],
  'teams of a department get new managers': [
    range(0, 64, (user) => ({ manager_uuid: `n${user.manager_uuid}` })),
  ],
  'a department is renamed': [
    range(0, 20, { about_me: 'People' }),
    (_, i) => ({ about_me: i < 20 ? 'Staff' : 'Sales' }),
  ],
  'users write ue for ü': [range(0, 35, ({ surname }) => ({ surname: surname.replaceAll('ü', 'ue') }))],
  'accents are corrected': [
    range(0, 35, ({ firstname }) => ({ firstname })),
    (user) => ({ surname: toAscii(user.surname) }),
  ],
  'six users lose the value of a sparse column': [
    (_, i) => (i === 40 ? { mobile: '+1 23456' } : i > 100 && i < 113 ? { mobile: '' } : {}),
    nth(2, setMobile),
  ],
  'two users exchange their names': [range(0, 2, exchangeNames)],
  'users are known by their forename': [nth(4, ({ firstname }) => ({ known_as: firstname }))],
  'two users get a room instead of a phone': [range(0, 2, { phone: 'room 7' })],
  'there are three new words': [SAME, SAME, { words: { '10c': 2, '10d': 1, known: 150 } }],
  'there are words in the first file': [SAME, SAME, { words: { '10c': 200 }, past: [] }],
  'the right file follows an accident': [
    nth(10, setPhone),
    SAME,
    async (night) => ({
      before: night.file,
      file: edit(night.before, nth(20, { phone: '+41 44 1234' })),
      past: [await planNight(night)],
    }),
  ],
  'the phones of one night are corrected': [SAME, SAME, takesBackPhones(1)],
  'a head leaves, and the reports have no manager': [
    (_, i) => (i === 8 ? false : i < 40 ? { manager_uuid: null } : {}),
    range(0, 40, { manager_uuid: 'u000008' }),
  ],
  'two heads exchange their teams': [range(0, 16, (_, i, all) => take(all[(i + 8) % 16], 'manager_uuid'))],
  'four pairs exchange their desks': [range(0, 8, (_, i, all) => take(all[i ^ 1], 'phone'))],
  'the same file is imported again': [SAME, SAME, { isKnownFile: true, past: [{ staged: [] }] }],
  'some users belong to another data set': [SAME, nth(20, { managed_by: 'scim' })],
  'a known part has a user of another part': [
    SAME,
    (_, i) => ({ managed_part: i === 5 ? 'east' : 'west' }),
    { part: 'west' },
  ],
  'a tenth of the rows fails': [SAME, SAME, { fails: isNth(10) }],
  'the same rows fail again': [
    SAME,
    SAME,
    async (night) => ({ fails: isNth(3), past: [await planNight({ ...night, fails: isNth(3) })] }),
  ],
  'a reverted phone gets a third value': [
    only(5, { phone: '+1 23456' }),
    SAME,
    async ({ before }) => isReverted({ before, file: edit(before, only(5, setPhone)) }),
  ],
};

describe.each(Object.entries(ACCIDENTS))('the guard %s is the first to stop the run if', (guard, stories) => {
  test.each(Object.entries(stories))('%s', async (_, story) => {
    const night = await planNight(await build(story));
    expect(listHits(night)[0]?.split(' ')[0]).toBe(guard);
    const hints = night.guards.flatMap(({ hit, hint }) => (hit ? [hint] : []));
    expect(hints[0]).not.toBe('');
    const told = hints.filter((hint) => hint !== '');
    expect(told.length).toBeLessThanOrEqual(2);
    expect(told.filter((hint) => hint.length > 1000 || !hint.endsWith('.'))).toEqual([]);
  });
});

test.each(Object.entries(ORDINARY))('no guard stops the run if %s', async (_, story) => {
  expect(listHits(await planNight(await build(story)))).toEqual([]);
});

test.each([...Object.values(ACCIDENTS), ORDINARY].flatMap((stories) => Object.entries(stories)))(
  'repeated plans have equal guards, and failed rows trip no guard, if %s',
  async (_, story) => {
    const night = await build(story);
    expect(await planNight(night)).toEqual(await planNight(night));
    const { guards } = await planNight({ ...night, missing: 'keep', words: {}, fails: () => true });
    const others = guards.filter(({ name }) => !['errors', 'foreign_dataset'].includes(name));
    expect(others.filter(({ value }) => value > 0)).toEqual([]);
  },
);

test.each(GUARDS.map(({ name, hint }) => [name, hint]))('the hint of %s says what to do', (_, hint) => {
  expect(hint).toMatch(/^[A-Z][^.]+\. .+\.$/);
  expect(hint).toMatch(/\b(Approve|Reject|Compare|Check|Correct|[Ee]xport|[Ii]mport|Ask|Add|Read|Sort)\b/);
});
