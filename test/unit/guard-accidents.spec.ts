import { describe, expect, test } from '@jest/globals';
import { GUARDS } from '../../src/import/guards/guard-table.js';
import {
  type Edit,
  type Night,
  createPerson,
  createStaff,
  edit,
  listHits,
  planNight,
} from '../support/data/guard-plan.js';

type Story = [title: string, build: (size: number) => Night | Promise<Night>];

const story =
  (make: Edit, setUp: Edit = () => ({}), night: Partial<Night> = {}) =>
  (size: number): Night => {
    const before = edit(createStaff(size), setUp);
    return { before, file: edit(before, make), ...night };
  };
type Field =
  'username' | 'email' | 'phone' | 'surname' | 'firstname' | 'manager_uuid' | 'authname' | 'external_id';
/** Moves a column by `by` rows, as after an inserted or deleted cell. */
const shift =
  (by: number, ...fields: Field[]): Edit =>
  (_, i, all) =>
    Object.fromEntries(fields.map((field) => [field, all.at((i + by) % all.length)?.[field] ?? '']));
/** Sorts a column without the other columns. */
const sort = (field: 'username' | 'email' | 'phone' | 'surname'): Edit => {
  let sorted: string[] | undefined;
  return (_, i, all) => ({ [field]: (sorted ??= all.map((user) => user[field]).sort())[i] ?? '' });
};
const isEach = (n: number, i: number): boolean => i % n === n - 1;
const drop =
  (test: (i: number, size: number) => boolean): Edit =>
  (_, i, { length }) =>
    test(i, length) ? false : {};
const toAscii = (text: string) => text.normalize('NFD').replace(/\P{ASCII}/gu, '');
const spellOut = (text: string) => text.replaceAll('ü', 'ue').replaceAll('ö', 'oe').replaceAll('ä', 'ae');
/** Builds the file of an earlier night after a night with these changes. */
const old =
  (make: Edit) =>
  async (size: number): Promise<Night> => {
    const night = story(make)(size);
    return { before: night.file, file: night.before, past: [await planNight(night)] };
  };
const movePhones: Edit = (_, i) => (isEach(10, i) ? { phone: `+1 555 ${i + 10_000}` } : {});

/** Accidents by the guard that says most about them. */
const ACCIDENTS: Readonly<Record<string, readonly Story[]>> = {
  deactivations: [
    ['every seventh user is missing', story(drop((i) => isEach(7, i)))],
    ['every seventh user is blocked by Status', story((_, i) => (isEach(7, i) ? { status: 'Blocked' } : {}))],
    [
      'scattered users are missing and others blocked',
      story((_, i) => (isEach(9, i) ? false : isEach(10, i) ? { status: 'Blocked' } : {})),
    ],
  ],
  lost_together: [
    ['the tail of the file is missing', story(drop((i, size) => i >= size * 0.9))],
    ['a page in the middle is missing', story(drop((i, size) => i >= size * 0.4 && i < size * 0.5))],
    [
      'two pages are missing',
      story(drop((i, size) => (i >= size * 0.2 && i < size * 0.26) || (i >= size * 0.6 && i < size * 0.66))),
    ],
    [
      'one site is missing',
      story(
        drop((i) => isEach(9, i)),
        ({ username }, i) => (isEach(9, i) ? { email: `${username}@sea.example` } : {}),
      ),
    ],
    ['three teams are missing', story(drop((i) => [1, 5, 10].includes(Math.floor(i / 8))))],
    ['all holders of a role are missing', story(drop((i) => i % 10 === 0))],
    [
      'the file ends in the middle, among users who were blocked before',
      story(
        (_, i, { length }) => (i >= length * 0.85 && !isEach(6, i) ? false : {}),
        (_, i) => (isEach(6, i) ? { status: 'Blocked' } : {}),
      ),
    ],
    ['the file is empty', story(() => false)],
  ],
  reactivations: [
    [
      'all blocked users become active',
      story(
        () => ({ status: 'Active' }),
        (_, i) => (isEach(8, i) ? { status: 'Blocked' } : {}),
      ),
    ],
    [
      'Active is filled in for half of them',
      story(
        (_, i) => (isEach(16, i) ? { status: 'Active' } : {}),
        (_, i) => (isEach(8, i) ? { status: 'Blocked' } : {}),
      ),
    ],
    [
      'users who left years ago return',
      story(
        () => ({ status: 'Active' }),
        (_, i) =>
          isEach(8, i)
            ? {
                status: 'Blocked',
                blocked_by: 'default',
                managed_by: null,
                updated: '2020-01-01 00:00:00.000',
              }
            : {},
      ),
    ],
  ],
  created: [
    ['applicants are in the file', (size) => ({ before: createStaff(size), file: createStaff(size * 1.5) })],
    [
      'all external ids get a prefix, and missing users are kept',
      story(
        (user) => ({
          ...createPerson(Number(user.external_id.slice(1)) + 5000),
          external_id: `X${user.external_id}`,
        }),
        undefined,
        { missing: 'keep' },
      ),
    ],
    [
      'the file of another company is appended',
      (size) => ({
        before: createStaff(size),
        file: [
          ...createStaff(size),
          ...createStaff(2 * size)
            .slice(size)
            .map((user) => ({ ...user, external_id: `B-${user.external_id}` })),
        ],
      }),
    ],
  ],
  role_holders: [
    ['all editors lose their role', story(() => ({ roles: ['Reader'] }))],
    ['all users become editors', story(() => ({ roles: ['Reader', 'Editor'] }))],
    [
      'a role is given under a new name',
      story(({ roles }) => ({ roles: roles.map((role) => (role === 'Editor' ? 'Author' : role)) })),
    ],
    [
      'all new users are editors',
      (size) => ({
        before: createStaff(size),
        file: [
          ...createStaff(size),
          ...createStaff(size + 15)
            .slice(size)
            .map((user) => ({ ...user, roles: ['Editor'] })),
        ],
      }),
    ],
  ],
  changed_field: [
    ['a default phone is filled in', story(() => ({ phone: '+49 30 1' }))],
    [
      'a flag is turned round',
      story(
        ({ hide_email: hidden }) => ({ hide_email: !hidden }),
        (_, i) => ({ hide_email: isEach(3, i) }),
      ),
    ],
    ['a column of names becomes upper case', story(({ surname }) => ({ surname: surname.toUpperCase() }))],
    [
      'a class is filled in for everyone',
      story(
        () => ({ about_me: 'Class 9' }),
        (_, i) => ({ about_me: `Class ${i % 7}` }),
      ),
    ],
  ],
  changed_logins: [],
  changed_logins_only: [
    ['usernames are sorted separately', story(sort('username'))],
    ['usernames get a prefix', story(({ username }) => ({ username: `x-${username}` }))],
    [
      'a tenth of the authnames become ids',
      story(({ external_id }, i) => (isEach(10, i) ? { authname: { saml: [external_id] } } : {})),
    ],
    [
      'e-mail addresses are built in another way',
      story(({ firstname, surname }, i) => ({
        email: toAscii(`${surname}${firstname.slice(0, 1)}${i}@lake.example`.toLowerCase()),
      })),
    ],
  ],
  changed_form: [
    ['the e-mail domain changes', story(({ username }) => ({ email: `${username}@sea.example` }))],
    [
      'a twentieth of the users get a private address',
      story(({ username }, i) => (isEach(20, i) ? { email: `${username}@post.example` } : {})),
    ],
    ['phones become text', story((_, i) => ({ phone: `room ${i}` }))],
    ['dates come in the phone column', story((_, i) => ({ phone: `2020-01-${10 + (i % 20)}` }))],
  ],
  changed_managers: [
    ['one manager for all', story(() => ({ manager_uuid: 'm0' }))],
    ['managers in another order', story((_, i) => ({ manager_uuid: `m${(i * 7) % 20}` }))],
    ['every sixth user has a new manager', story((_, i) => (isEach(6, i) ? { manager_uuid: `n${i}` } : {}))],
  ],
  emptied_field: [
    ['a column is emptied', story(() => ({ phone: '' }))],
    [
      'the managers of many users are empty',
      story((_, i) => (isEach(7, i) ? { manager_uuid: null } : {})),
    ],
    ['authnames are empty', story(() => ({ authname: {} }))],
  ],
  other_person: [
    [
      'ids are given to other people',
      story(({ uuid, external_id, version }, i, all) => ({ ...all.at(i - 57), uuid, external_id, version })),
    ],
    [
      'external ids slide by one row',
      story(({ uuid, external_id, version }, i, all) => ({ ...all.at(i - 1), uuid, external_id, version })),
    ],
    [
      'numbers of leavers become new people',
      story((_, i) =>
        isEach(25, i)
          ? { firstname: `Xw${i}`, surname: `Qkj${i}`, username: `xw${i}`, email: `xw${i}@lake.example` }
          : {},
      ),
    ],
    [
      'ids slide in a file without names',
      story(
        (_, i, all) => {
          const { username, email, authname } = all.at(i - 1) ?? all[0] ?? createPerson(0);
          return { username, email, authname };
        },
        undefined,
        { columns: ['ExternalId', 'Username', 'Email', 'Authname'] },
      ),
    ],
    [
      'short authnames belong to other people',
      story(
        (_, i, all) => {
          const { username, authname } = all.at(i - 1) ?? createPerson(0);
          return { username, authname };
        },
        ({ firstname, surname }) => ({
          username: `${surname}`.toLowerCase(),
          authname: { saml: [firstname.slice(0, 3)] },
        }),
        { columns: ['ExternalId', 'Username', 'Authname'] },
      ),
    ],
  ],
  slid_column: [
    ['phones slide down', story(shift(-1, 'phone'))],
    ['phones slide up', story(shift(1, 'phone'))],
    ['usernames slide up', story(shift(1, 'username'))],
    [
      'a short block of managers slides',
      story((user, i, all) => (i >= 8 && i < 120 ? shift(-1, 'manager_uuid')(user, i, all) : {})),
    ],
    [
      'ten e-mail addresses slide',
      story((user, i, all) => (i >= 20 && i < 30 ? shift(-1, 'email')(user, i, all) : {})),
    ],
    [
      'a value that two fifths of the filled cells have slides',
      story(
        (_, i, all) => ({ known_as: all.at(i - 1)?.known_as ?? '' }),
        (_, i) => ({ known_as: isEach(5, i) ? (isEach(10, i) ? 'Sam' : `Kim${i}`) : '' }),
      ),
    ],
  ],
  exchanged_values: [
    [
      'forename and surname are exchanged',
      story(({ firstname, surname }) => ({ firstname: surname, surname: firstname })),
    ],
    [
      'phone and mobile are exchanged',
      story(
        ({ phone, mobile }) => ({ phone: mobile, mobile: phone }),
        (_, i) => ({ mobile: `+49 171 ${i + 900_000}` }),
      ),
    ],
    [
      'a delimiter moves the cells of a few rows',
      story(({ firstname, surname }, i) => (isEach(25, i) ? { surname: firstname, known_as: surname } : {})),
    ],
    ['the e-mail address is in the username', story(({ email }) => ({ username: email }))],
  ],
  garbled_text: [
    [
      'accents are lost',
      story(({ firstname, surname }) => ({ firstname: toAscii(firstname), surname: toAscii(surname) })),
    ],
    ['only forenames lose their accents', story(({ firstname }) => ({ firstname: toAscii(firstname) }))],
    [
      'accented letters are left out',
      story(({ surname }) => ({ surname: surname.replace(/\P{ASCII}/gu, '') })),
    ],
  ],
  unknown_word: [
    [
      'a school class has a new name',
      (size) => ({ ...story(() => ({}))(size), words: { known: 90, '10b': 12 } }),
    ],
    [
      'the source is in another language',
      (size) => ({ ...story(() => ({ status: 'Blocked' }))(size), words: { aktiv: size } }),
    ],
    [
      'many new words have few rows',
      (size) => ({
        ...story(() => ({}))(size),
        words: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`w${i}`.repeat(200), 1])),
      }),
    ],
  ],
  old_file: [
    ['the file of yesterday takes phones back', old(movePhones)],
    [
      'an old file without the new users',
      async (size) => {
        const night = { before: createStaff(size), file: createStaff(size + 15) };
        return { before: night.file, file: night.before, past: [await planNight(night)] };
      },
    ],
    [
      'an old file takes back what two runs did',
      async (size) => {
        const [one, two] = [
          story(movePhones)(size),
          await old((_, i) => (isEach(11, i) ? { surname: `Neu${i}` } : {}))(size),
        ];
        const after = edit(one.file, (_, i) => (isEach(9, i) ? { surname: `Neu${i}` } : {}));
        return {
          before: after,
          file: one.before,
          past: [
            await planNight({ before: one.file, file: after }),
            await planNight(one),
            ...(two.past ?? []),
          ],
        };
      },
    ],
    ['an old file lists users who left', old((_, i) => (isEach(15, i) ? { status: 'Blocked' } : {}))],
  ],
  foreign_dataset: [
    [
      'the file has the wrong data set',
      story(
        () => ({}),
        () => ({ managed_by: 'other' }),
      ),
    ],
    [
      'every eighth user belongs elsewhere',
      story(
        () => ({}),
        (_, i) => (isEach(8, i) ? { managed_by: 'scim' } : {}),
      ),
    ],
    [
      'a new part takes one user of another part',
      story(
        () => ({}),
        (_, i) => (i === 5 ? { managed_part: 'east' } : { managed_part: 'west' }),
        { part: 'west', past: [] },
      ),
    ],
  ],
  errors: [
    [
      'an eighth of the rows fails',
      story(movePhones, undefined, { fails: ({ uuid }) => isEach(8, Number(uuid.slice(1))) }),
    ],
    ['all rows fail', story(() => ({}), undefined, { fails: () => true })],
    [
      'most rows of the first file fail',
      (size) => ({ before: [], file: createStaff(size), past: [], fails: ({ uuid }) => uuid < 'u000150' }),
    ],
  ],
  after_revert: [
    [
      'one phone comes again',
      async (size) => {
        const night = story((_, i) => (i === 5 ? { phone: '1' } : {}))(size);
        return { ...night, reverts: [await planNight({ before: night.file, file: night.before })] };
      },
    ],
    [
      'a file that was reverted comes again',
      async (size) => {
        const night = story(movePhones)(size);
        return { ...night, reverts: [await planNight({ before: night.file, file: night.before })] };
      },
    ],
    [
      'users whom a revert unblocked are missing again',
      async (size) => {
        const night = story((_, i) => (i === 5 ? { status: 'Blocked' } : {}))(size);
        return {
          ...story(drop((i) => i === 5))(size),
          reverts: [await planNight({ before: night.file, file: night.before })],
        };
      },
    ],
  ],
};

describe.each(Object.entries(ACCIDENTS).filter(([, stories]) => stories.length > 0))(
  'the guard %s is the first to stop the run if',
  (guard, stories) => {
    test.each(stories)('%s', async (_, build) => {
      const night = await planNight(await build(200));
      const [first = 'no guard'] = listHits(night);
      expect(first.split(' ')[0]).toBe(guard);
      const hints = night.guards.filter(({ hit }) => hit).map(({ hint }) => hint);
      expect(hints[0]).not.toBe('');
      expect(hints.filter((hint) => hint !== '').length).toBeLessThanOrEqual(2);
      expect(hints.filter((hint) => hint.length > 1000 || (hint !== '' && !hint.endsWith('.')))).toEqual([]);
    });
  },
);

const ORDINARY: readonly Story[] = [
  ['three users leave', story(drop((i) => i % 70 === 7))],
  [
    'a few users are blocked, and others get phones',
    story((_, i) => (isEach(40, i) ? { status: 'Blocked' } : isEach(10, i) ? { phone: `+1 ${i}5550` } : {})),
  ],
  [
    'users return whom the file lacked last week',
    story(
      () => ({ status: 'Active', managed_by: 'default', blocked_by: null }),
      (_, i) =>
        isEach(8, i)
          ? { status: 'Blocked', managed_by: null, blocked_by: 'default', updated: '2026-02-25 00:00:00.000' }
          : {},
    ),
  ],
  [
    'two users come back',
    story(
      (_, i) => (i < 2 ? { status: 'Active' } : {}),
      (_, i) => (i < 2 ? { status: 'Blocked' } : {}),
    ),
  ],
  ['twenty users join', (size) => ({ before: createStaff(size), file: createStaff(size + 20) })],
  ['the first file creates everyone', (size) => ({ before: [], file: createStaff(size), past: [] })],
  [
    'three editors get another role',
    story(({ roles }, i) => (i < 21 && roles.length > 1 ? { roles: ['Reader', 'Author'] } : {})),
  ],
  [
    'all users get the default role',
    story(
      () => ({ roles: ['Reader'] }),
      () => ({ roles: [] }),
    ),
  ],
  ['a column is filled for the first time', story((_, i) => ({ mobile: `+49 171 ${i + 9_000}` }))],
  ['a tenth of the users get phones', story(movePhones)],
  [
    'users marry',
    story(({ surname, firstname }, i) =>
      isEach(40, i)
        ? {
            surname: `${surname}-Neu`,
            username: `neu${i}`,
            email: `${firstname.toLowerCase()}${i}@lake.example`,
          }
        : {},
    ),
  ],
  [
    'e-mail addresses change their case',
    story(({ email, username }) => ({ email: email.toUpperCase(), username: username.toUpperCase() })),
  ],
  [
    'three teams move as a whole',
    story(({ manager_uuid: manager }) => ({
      manager_uuid: ['m1', 'm7', 'm9'].includes(manager ?? '') ? `n${manager}` : manager,
    })),
  ],
  [
    'a manager takes over two teams',
    story(({ manager_uuid: manager }) => ({
      manager_uuid: ['m3', 'm4'].includes(manager ?? '') ? 'm20' : manager,
    })),
  ],
  [
    'a manager has a successor in all teams of a department',
    story(({ manager_uuid: manager }, i) => (i < 64 ? { manager_uuid: `m2${manager}` } : {})),
  ],
  [
    'a department is renamed',
    story(
      (_, i) => (i < 20 ? { about_me: 'People' } : {}),
      (_, i) => ({ about_me: i < 20 ? 'Personnel' : 'Sales' }),
    ),
  ],
  [
    'users write ue for ü',
    story(({ surname, firstname }, i) => (i < 30 ? { surname: spellOut(surname), firstname } : {})),
  ],
  [
    'users correct their accents',
    story(
      ({ firstname }) => ({ firstname }),
      ({ firstname }) => ({ firstname: toAscii(firstname) }),
    ),
  ],
  [
    'users lose their phones in a sparse column',
    story(
      ({ mobile }, i) => ({
        mobile: mobile === '' || i > 120 ? mobile : '',
        ...(i === 150 && { mobile: '+49 171 1' }),
      }),
      (_, i) => ({ mobile: i % 3 === 0 && i % 2 === 0 && i > 90 ? `+49 171 ${i + 9_000}` : '' }),
    ),
  ],
  [
    'two rows exchange their forenames and surnames',
    story(({ firstname, surname }, i) => (i < 2 ? { firstname: surname, surname: firstname } : {})),
  ],
  [
    'users are known by their forename',
    story(({ firstname }, i) => (isEach(4, i) ? { known_as: firstname } : {})),
  ],
  ['a few users get a room instead of a phone', story((_, i) => (i < 2 ? { phone: 'room 7' } : {}))],
  ['two new words', (size) => ({ ...story(() => ({}))(size), words: { '10c': 2, '10d': 1, known: 150 } })],
  [
    'the words are the first ones',
    (size) => ({ ...story(() => ({}))(size), words: { '10c': 200 }, past: [] }),
  ],
  [
    'the right file after an accident',
    async (size) => {
      const night = story(movePhones)(size);
      return {
        before: night.file,
        file: edit(night.before, (_, i) => (isEach(30, i) ? { phone: `+41 44 ${i + 1000}` } : {})),
        past: [await planNight(night)],
      };
    },
  ],
  [
    'the same file comes again',
    async (size) => {
      const night = story(movePhones)(size);
      return { before: night.file, file: night.file, past: [await planNight(night)], isKnownFile: true };
    },
  ],
  ['an earlier file changes nothing', story(() => ({}), undefined, { isKnownFile: true })],
  [
    'some users belong to another data set',
    story(
      () => ({}),
      (_, i) => (isEach(20, i) ? { managed_by: 'scim' } : {}),
    ),
  ],
  [
    'a part comes again with users of another part',
    story(
      () => ({}),
      (_, i) => ({ managed_part: i === 5 ? 'east' : 'west' }),
      { part: 'west' },
    ),
  ],
  [
    'the same rows fail as in the last run',
    async (size) => {
      const night = story(() => ({}), undefined, { fails: ({ uuid }) => uuid < 'u000100' })(size);
      return { ...night, past: [await planNight(night)] };
    },
  ],
  [
    'a tenth of the rows fails',
    story(() => ({}), undefined, { fails: ({ uuid }) => isEach(10, Number(uuid.slice(1))) }),
  ],
  [
    'other users change after a revert',
    async (size) => {
      const night = story((_, i) => (i === 5 ? { phone: '1' } : {}))(size);
      return {
        ...story((_, i) => (i === 6 ? { phone: '1' } : {}))(size),
        reverts: [await planNight({ before: night.file, file: night.before })],
      };
    },
  ],
  [
    'a reverted phone gets a third value',
    async (size) => {
      const night = story((_, i) => (i === 5 ? { phone: '1' } : {}))(size);
      return {
        ...story((_, i) => (i === 5 ? { phone: '2' } : {}))(size),
        reverts: [await planNight({ before: night.file, file: night.before })],
      };
    },
  ],
];

test.each(ORDINARY)('no guard stops the run if %s', async (_, build) => {
  expect(listHits(await planNight(await build(200)))).toEqual([]);
});

const ALL: readonly Story[] = [...Object.values(ACCIDENTS).flat(), ...ORDINARY];

test('rows that fail count only for errors and for foreign users', async () => {
  for (const [title, build] of ALL) {
    const night = await build(200);
    const { guards } = await planNight({ ...night, missing: 'keep', words: {}, fails: () => true });
    const counted = guards.filter(
      ({ name, value }) => value > 0 && !['errors', 'foreign_dataset'].includes(name),
    );
    expect({ title, counted }).toEqual({ title, counted: [] });
  }
});

test('the same plan twice gives the same guards', async () => {
  for (const [title, build] of ALL) {
    const night = await build(60);
    expect({ title, ...(await planNight(night)) }).toEqual({ title, ...(await planNight(night)) });
  }
});

test.each(GUARDS.map(({ name, hint }) => [name, hint]))(
  'the hint of %s tells in full sentences what to do',
  (_, hint) => {
    expect(hint).toMatch(/^[A-Z][^.]+\. .+\.$/);
    expect(hint).toMatch(
      /\b(Approve|Reject|Compare|Check|Correct|Export|export|Import|import|Ask|Add|Read|Sort)\b/,
    );
  },
);
