import { bySize, each, hired, last, married, where } from './changes.js';
import { passes } from './night.js';
import { newcomers } from './people.js';

/** Weddings, moves and reorganisations: a few people whose values change. */

const ONE = () => 1;
/** As many of whom a username, e-mail or login name may change. */
const NAMED = bySize(2, 2, 5, 40);
/** As many of whom another cell may change, or be blocked by their status. */
const CHANGED = bySize(2, 3, 10, 80);
const SMALL = [8, 19, 50];

export const NIGHTS_OF_MOVES = [
  passes('weddings, as many as may', { updated: NAMED }, married(NAMED)),
  passes('a divorce: a person with the name of before', { updated: 1 }, hired(ONE), {
    before: [{ file: married(ONE) }, { file: (all) => hired(ONE)(married(ONE)(all)) }],
    sizes: SMALL,
  }),
  passes('a hired person has the username that another one gives up', { created: 1, updated: 1 }, (all) => {
    const [one] = newcomers(all, 1);
    const { username, email } = all.at(-1)!;
    return [
      ...last(ONE, () => ({ username: `x.${username}`, email: `x.${email}` }))(all),
      { ...one!, username, email },
    ];
  }),
  passes('two people swap usernames', { updated: 2 }, (all) =>
    where(
      (i) => i < 2,
      (_, i) => ({ username: all[1 - i]!.username }),
    )(all),
  ),
  passes(
    'three people move up one username',
    { updated: 3 },
    (all) =>
      where(
        (i) => i < 3,
        (_, i) => ({ username: i === 2 ? `x.${all[2]!.username}` : all[i + 1]!.username }),
      )(all),
    { sizes: [50, 400] },
  ),
  passes(
    'three desks change',
    { updated: 3 },
    (all) =>
      where(
        (i) => i < 3,
        (_, i) => ({ phone: all[(i + 1) % 3]!.phone }),
      )(all),
    { sizes: [19, 50, 400] },
  ),
  passes('another person behind one key', { updated: 1 }, (all) => [
    ...all.slice(0, -1),
    { ...newcomers(all, 1)[0]!, external_id: all.at(-1)!.external_id },
  ]),

  passes(
    'one office moves: other phones',
    { updated: CHANGED },
    last(CHANGED, ({ phone }) => ({ phone: phone.replace('496', '555') })),
  ),
  passes(
    'a team shares one phone',
    { updated: CHANGED },
    last(CHANGED, () => ({ phone: '+44 113 496 0000' })),
  ),
  passes('a reorganisation of a part of the company', { updated: bySize(1, 3, 10, 80) }, (all) =>
    last(bySize(1, 3, 10, 80), () => ({ manager: all[0]!.external_id }))(all),
  ),
  passes('a new head of the company', { created: 1, updated: 1 }, (all) => {
    const [head] = newcomers(all, 1).map((person) => ({ ...person, manager: '' }));
    return [{ ...all[0]!, manager: head!.external_id }, ...all.slice(1), head!];
  }),
  passes(
    'a department with another name',
    { updated: (size) => Math.ceil(size / 7) },
    where(
      (i) => i % 7 === 0,
      ({ about_me }) => ({ about_me: about_me.replace('Sales', 'Markets') }),
    ),
  ),
  passes(
    'other roles, as many as may',
    { updated: NAMED },
    last(NAMED, () => ({ roles: 'Blogger' })),
  ),
  passes(
    'one team has other addresses',
    { updated: NAMED },
    last(NAMED, ({ email }) => ({ email: email.replace('@', '@team.') })),
  ),
  passes('work mobiles given back, as many as may', { updated: bySize(2, 2, 5, 40) }, (all) => {
    const some = all.filter(({ mobile }) => mobile !== '').slice(0, bySize(2, 2, 5, 40)(all.length));
    return where(
      (_, person) => some.includes(person),
      () => ({ mobile: '' }),
    )(all);
  }),
  passes(
    'work mobiles for all who had none',
    { updated: (size) => Math.floor(size / 4) },
    each(({ mobile, phone }) => ({ mobile: mobile === '' ? phone.replace('113', '7700') : mobile })),
  ),
];
