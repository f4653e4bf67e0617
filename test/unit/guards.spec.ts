import { describe, expect, test } from '@jest/globals';
import type { User } from '../../src/users/model/user.js';
import {
  type Edit,
  type Night,
  type PlannedNight,
  createStaff,
  edit,
  planNight,
  toChange,
} from '../support/data/guard-plan.js';

type Build = (size: number, count: number) => Night | Promise<Night>;

/** Plans changes of the first `count` users that `isEligible` returns true for. */
const change =
  (make: Edit, setUp: Edit = {}, isEligible: (user: User) => boolean = () => true): Build =>
  (size, count) => {
    const before = edit(createStaff(size), setUp);
    let changed = 0;
    const file = edit(before, (user, i, all) =>
      isEligible(user) && changed++ < count ? toChange(make)(user, i, all) : {},
    );
    return { before, file };
  };
const isEditor = ({ roles }: User) => roles.includes('Editor');
const setPhone: Edit = (_, i) => ({ phone: `+1 555 ${900_000 + i}` });
const changeNames: Edit = (_, i) => ({ firstname: `Xw${i}`, surname: `Qkj${i}` });

/** Guard, what is counted, sizes with their limits, and the plan. Limits follow from interface §6. */
const CASES: readonly [guard: string, sizes: Readonly<Record<number, number>>, build: Build][] = [
  ['deactivations', { 8: 3, 40: 4, 100: 10, 1000: 100, 20000: 400 }, change({ status: 'Blocked' })],
  [
    'reactivations',
    { 8: 3, 40: 3, 100: 5, 1000: 20, 20000: 400 },
    change({ status: 'Active' }, { status: 'Blocked' }),
  ],
  [
    'created',
    { 8: 20, 40: 20, 100: 20, 1000: 150 },
    (size, count) => ({ before: createStaff(size), file: createStaff(size + count) }),
  ],
  [
    'role_holders roles.Editor.given',
    { 8: 3, 100: 5, 1000: 20 },
    change({ roles: ['Reader', 'Editor'] }, {}, (user) => !isEditor(user)),
  ],
  [
    'role_holders roles.Editor.taken',
    { 40: 3, 100: 5, 1000: 20 },
    change({ roles: ['Reader'] }, {}, isEditor),
  ],
  ['changed_field phone', { 8: 3, 40: 8, 100: 20, 1000: 200 }, change(setPhone)],
  [
    'changed_field about_me',
    { 100: 5, 1000: 5 },
    change({ about_me: 'b' }, (_, i) => ({ about_me: i < 20 ? 'a' : '' })),
  ],
  ['changed_field hide_email.on', { 8: 3, 100: 20 }, change({ hide_email: true })],
  [
    'changed_field hide_email.off',
    { 40: 4, 100: 5 },
    change({ hide_email: false }, (_, i) => ({ hide_email: i < 20 })),
  ],
  [
    'changed_field social_media.twitter',
    { 100: 20 },
    change({ social_media: { twitter: 'b' } }, { social_media: { twitter: 'a' } }),
  ],
  ...(['username', 'email'] as const).flatMap((field): (typeof CASES)[number][] => [
    [
      `changed_logins ${field}`,
      { 8: 3, 40: 4, 100: 10, 1000: 100 },
      change((user, i) => ({ surname: `${user.surname}-Lee`, [field]: `lee${i}@lake.example` })),
    ],
    [
      `changed_logins_only ${field}`,
      { 8: 3, 40: 3, 100: 5, 1000: 20 },
      change((_, i) => ({ [field]: `new${i}@lake.example` })),
    ],
  ]),
  ['changed_logins_only authname', { 100: 5 }, change((_, i) => ({ authname: { saml: [`new${i}`] } }))],
  [
    'changed_managers manager_uuid', // one of each team, so that no team moves
    { 40: 4, 200: 20, 1000: 100 },
    change(
      (_, i) => ({ manager_uuid: `n${i}` }),
      {},
      ({ uuid }) => Number(uuid.slice(1)) % 8 < 4,
    ),
  ],
  // Whole teams count once, so that the limit for all users is reached.
  [
    'changed_managers all',
    { 64: 51, 200: 100, 1000: 300 },
    change((user) => ({ manager_uuid: `n${user.manager_uuid}` })),
  ],
  ['emptied_field phone', { 8: 3, 40: 4, 100: 10, 1000: 100 }, change({ phone: '' })],
  ['emptied_field authname', { 100: 5, 1000: 20 }, change({ authname: {} })],
  ['emptied_field manager_uuid', { 100: 10 }, change({ manager_uuid: null })],
  ['other_person', { 8: 3, 100: 3, 1000: 5, 20000: 100 }, change(changeNames)],
  [
    'slid_column phone',
    { 8: 3, 100: 5, 1000: 5, 2000: 10 },
    change(
      (_, i, all) => ({ phone: all[i - 1]?.phone ?? '' }),
      {},
      ({ uuid }) => uuid !== 'u000000',
    ),
  ],
  [
    'exchanged_values',
    { 8: 3, 100: 3, 1000: 10 },
    change(({ firstname, surname }) => ({ firstname: surname, surname: firstname })),
  ],
  ['changed_form phone', { 40: 3, 100: 3, 1000: 10 }, change((_, i) => ({ phone: `room ${i}` }))],
  [
    'changed_form email', // e-mail addresses keep `email_rows`, which a small scope lowers too
    { 40: 3, 100: 8, 1000: 10 },
    change(({ username }) => ({ email: `${username}@sea.example` })),
  ],
  [
    'garbled_text',
    { 8: 3, 40: 4, 100: 10 },
    change(
      ({ surname }) => ({ surname: surname.replaceAll('ü', 'u') }),
      (_, i) => ({ firstname: 'Ann', surname: `Müller${i}` }),
    ),
  ],
  [
    'unknown_word',
    { 8: 3, 100: 3, 1000: 10 },
    (size, count) => ({
      before: createStaff(size),
      file: createStaff(size),
      words: { known: 99, new: count },
    }),
  ],
  [
    'old_file',
    { 8: 3, 100: 5, 1000: 10 },
    async (size, count) => {
      const last = await change(setPhone)(size, count);
      return { before: last.file, file: last.before, past: [await planNight(last)] };
    },
  ],
  [
    'foreign_dataset',
    { 8: 3, 40: 4, 100: 10 },
    (size, count) => {
      const before = edit(createStaff(size), (_, i) => (i < count ? { managed_by: 'other' } : {}));
      return { before, file: before };
    },
  ],
  [
    'errors',
    { 8: 4, 40: 4, 100: 10 },
    (size, count) => ({
      before: [],
      file: createStaff(size),
      fails: ({ uuid }) => Number(uuid.slice(1)) < count,
    }),
  ],
  [
    'after_revert',
    { 8: 0, 100: 0 },
    async (size, count) => {
      const first = await change(setPhone)(size, count);
      const revert = await planNight({ before: first.file, file: first.before });
      return { ...first, reverts: [revert] };
    },
  ],
  [
    'lost_together',
    { 40: 10, 100: 10, 1000: 20 },
    (size, count) => ({ before: createStaff(size), file: createStaff(size - count) }),
  ],
];

const find = ({ guards }: PlannedNight, name: string) =>
  guards.find((guard) => name === guard.name || name === `${guard.name} ${guard.field}`) ??
  guards.find((guard) => name.endsWith(' all') && name.startsWith(guard.name));
const isHit = (night: PlannedNight, name: string): boolean => find(night, name)?.hit ?? false;

describe.each(CASES)('the guard %s', (name, sizes, build) => {
  test.each(Object.entries(sizes))('among %s users has the limit %d', async (text, limit) => {
    const size = Number(text);
    const at = await planNight(await build(size, limit));
    const over = await planNight(await build(size, limit + 1));
    expect([isHit(at, name), isHit(over, name)]).toEqual([false, true]);
    expect(find(over, name)).toMatchObject({ value: limit + 1, limit });
  });
});

/** Plans a file that blocks `count` of 100 users, who have nothing in common. */
const block = (count: number, night: Partial<Night> = {}) => planNight({ ...blockOf(100, count), ...night });
const blockOf = change({ status: 'Blocked' }) as (size: number, count: number) => Night;
const hasHit = async (count: number, night: Partial<Night>) =>
  isHit(await block(count, night), 'deactivations');

test.each<[string, number, Partial<Night>]>([
  ['the preset strict', 5, { profile: { preset: 'strict' } }],
  ['the preset relaxed', 20, { profile: { preset: 'relaxed' } }],
  [
    'the preset strict with a limit in the settings',
    14,
    { profile: { preset: 'strict' }, settings: { IMPORT_GUARD_DEACTIVATIONS_PERCENT: '14' } },
  ],
  ['a limit in the settings', 12, { settings: { IMPORT_GUARD_DEACTIVATIONS_ROWS: '12' } }],
  [
    'a limit in the profile, which beats the settings',
    7,
    { settings: { IMPORT_GUARD_DEACTIVATIONS_PERCENT: '90' }, profile: { deactivations: { percent: 7 } } },
  ],
  ['a lower cap', 1, { profile: { deactivations: { cap_rows: 1, cap_percent: 0 } } }],
  ['a percentage with a decimal', 12, { profile: { deactivations: { percent: 12.9 } } }],
])('%s allows %d of 100 users to lose access', async (_, limit, night) => {
  expect([await hasHit(limit, night), await hasHit(limit + 1, night)]).toEqual([false, true]);
});

describe('the counts of 30 days', () => {
  test('stop a sum over twice the limit of one run', async () => {
    const past = [await block(8), await block(3)];
    expect([await hasHit(9, { past }), await hasHit(10, { past })]).toEqual([false, true]);
    expect(find(await block(10, { past }), 'deactivations')).toMatchObject({ value: 21, limit: 20 });
  });
  test('do not stop a run whose own count is 0', async () => {
    expect(await hasHit(0, { past: [await block(10), await block(10), await block(10)] })).toBe(false);
  });
  test('end at an approval, but only for the guards that stopped the approved run', async () => {
    const phones = await planNight(await change(setPhone)(100, 21));
    const approved = { ...(await block(11)), isApproved: true };
    const usual = await block(10);
    const past = (middle: Partial<PlannedNight>) => [middle, usual, usual];
    expect(await hasHit(10, { past: past(approved) })).toBe(false);
    expect(await hasHit(10, { past: past({ ...phones, isApproved: true }) })).toBe(true);
  });
  test('do not contain the counts of approved runs', async () => {
    expect(await hasHit(10, { past: [await block(10), { ...(await block(11)), isApproved: true }] })).toBe(
      false,
    );
  });
  test('of created users stop at the limit of one run', async () => {
    const create = (count: number, past: Partial<PlannedNight>[] = [{}]) =>
      planNight({ before: createStaff(100), file: createStaff(100 + count), past });
    const past = [await create(15), await create(4)];
    expect(isHit(await create(1, past), 'created')).toBe(false);
    expect(find(await create(2, past), 'created')).toMatchObject({ hit: true, value: 21, limit: 20 });
    expect(isHit(await create(900, []), 'created')).toBe(false);
  });
  test.each([
    'lost_together',
    'changed_managers all',
    'slid_column phone',
    'changed_form phone',
    'exchanged_values',
    'garbled_text',
  ])('do not concern %s', async (name) => {
    const [, , build] = CASES.find(([guard]) => guard === name) ?? [];
    const night = await build?.(200, 3);
    if (!night) throw new Error(name);
    const once = await planNight(night);
    expect(isHit(await planNight({ ...night, past: Array.from({ length: 25 }, () => once) }), name)).toBe(
      false,
    );
  });
});
