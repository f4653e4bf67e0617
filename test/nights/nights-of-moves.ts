import { pick, hire, patchLast, marry, patchIf } from './changes.js';
import { passes } from './night.js';
import { getNext } from './people.js';

/** Changed values of a few people, such as new names and phones. */

const ONE = () => 1;
/** Largest number of people whose username, e-mail or login may change. */
const NAMED = pick(2, 2, 5, 40);
/** Largest number of people whose other cells may change. */
const CHANGED = pick(2, 3, 10, 80);
const SMALL = [8, 19, 50];

export const NIGHTS_OF_MOVES = [
  passes('new surnames, usernames and e-mails up to the limit', { updated: NAMED }, marry(NAMED)),
  passes('the former surname of one person restored', { updated: 1 }, hire(ONE), {
    before: [{ file: marry(ONE) }, { file: (all) => hire(ONE)(marry(ONE)(all)) }],
    sizes: SMALL,
  }),
  passes('a new person with the former username of another person', { created: 1, updated: 1 }, (all) => {
    const [one] = getNext(all, 1);
    const { username, email } = all.at(-1)!;
    return [
      ...patchLast(ONE, () => ({ username: `x.${username}`, email: `x.${email}` }))(all),
      { ...one!, username, email },
    ];
  }),
  passes('swapped usernames of two people', { updated: 2 }, (all) =>
    patchIf(
      (i) => i < 2,
      (_, i) => ({ username: all[1 - i]!.username }),
    )(all),
  ),
  passes(
    'usernames of three people passed on to the next person',
    { updated: 3 },
    (all) =>
      patchIf(
        (i) => i < 3,
        (_, i) => ({ username: i === 2 ? `x.${all[2]!.username}` : all[i + 1]!.username }),
      )(all),
    { sizes: [50, 400] },
  ),
  passes(
    'rotated phones of three people',
    { updated: 3 },
    (all) =>
      patchIf(
        (i) => i < 3,
        (_, i) => ({ phone: all[(i + 1) % 3]!.phone }),
      )(all),
    { sizes: [19, 50, 400] },
  ),
  passes('one external id given to another person', { updated: 1 }, (all) => [
    ...all.slice(0, -1),
    { ...getNext(all, 1)[0]!, external_id: all.at(-1)!.external_id },
  ]),

  passes(
    'one phone shared by a team',
    { updated: CHANGED },
    patchLast(CHANGED, () => ({ phone: '+44 113 496 0000' })),
  ),
  passes('a new manager for some people', { updated: pick(1, 3, 10, 80) }, (all) =>
    patchLast(pick(1, 3, 10, 80), () => ({ manager: all[0]!.external_id }))(all),
  ),
  passes('a new head of the company', { created: 1, updated: 1 }, (all) => {
    const [head] = getNext(all, 1).map((person) => ({ ...person, manager: '' }));
    return [{ ...all[0]!, manager: head!.external_id }, ...all.slice(1), head!];
  }),
  passes(
    'changed roles up to the limit',
    { updated: pick(2, 2, 5, 5) },
    patchLast(pick(2, 2, 5, 5), () => ({ roles: 'Blogger' })),
  ),
  passes('emptied mobiles up to the limit', { updated: pick(2, 2, 5, 30) }, (all) => {
    const some = all.filter(({ mobile }) => mobile !== '').slice(0, pick(2, 2, 5, 30)(all.length));
    return patchIf(
      (_, person) => some.includes(person),
      () => ({ mobile: '' }),
    )(all);
  }),
];
