import {
  active,
  blocked,
  both,
  bySize,
  each,
  gone,
  hired,
  last,
  part,
  someBlocked,
  where,
} from './changes.js';
import { passes } from './night.js';
import { type Person, newcomers } from './people.js';

/** People who come, leave and return. */

const ONE = () => 1;
const FEW = bySize(1, 1, 2, 8);
const LEFT = bySize(1, 3, 5, 40);
const BLOCKED = bySize(3, 3, 5, 40);
const SMALL = [8, 19, 50];
/** The last person who manages somebody, and whom they manage. */
const lastManager = (all: readonly Person[]): string => all.at(-1)!.manager;
const teamOf = (manager: string) => (_: number, person: Person) => person.manager === manager;

export const NIGHTS_OF_PEOPLE = [
  passes('nothing new', {}, (all) => all),
  passes('one person hired', { created: 1 }, hired(ONE)),
  passes('a few people hired', { created: FEW }, hired(FEW)),
  passes('a new department', { created: part(15) }, hired(part(15))),
  passes('a department of a third of the company', { created: part(33) }, hired(part(33))),
  passes('people for the season', { created: part(50) }, hired(part(50))),
  passes('a company that doubles', { created: part(100) }, hired(part(100))),
  passes(
    'ten people in a company of eight',
    { created: 10 },
    hired(() => 10),
    { sizes: [8] },
  ),
  passes('a person hired without a manager', { created: 1 }, hired(ONE, { manager: '' }), { sizes: SMALL }),
  passes('an external user hired', { created: 1 }, hired(ONE, { roles: 'External user' }), { sizes: SMALL }),
  passes(
    'a person hired who begins later, blocked until then',
    { created: 1 },
    hired(ONE, { status: 'Blocked' }),
    { sizes: SMALL },
  ),
  passes(
    'hired people with accents in their names',
    { created: FEW },
    hired(FEW, { surname: 'Åström', firstname: 'Zoë' }),
  ),
  passes(
    'hired people with one number for all of them',
    { created: part(15) },
    hired(part(15), { phone: '+44 113 496 0000' }),
  ),
  passes(
    'hired people without roles, which an option gives them',
    { created: FEW },
    hired(FEW, { roles: '' }),
    { options: 'missing=block&default_roles=Author', sizes: SMALL },
  ),
  passes(
    'a hired person with all fields blank but the names',
    { created: 1 },
    hired(ONE, { firstname: '', phone: '', mobile: '', authname: '', about_me: '', hide_email: '' }),
    { sizes: SMALL },
  ),
  passes(
    'people hired in two nights',
    { created: FEW },
    (all) => [...all, ...newcomers(all, 2), ...newcomers(all, FEW(all.length), all.length + 2)],
    { before: [{ file: hired(() => 2) }] },
  ),
  passes(
    'a hired person who manages another one',
    { created: 2 },
    (all) => {
      const [one, other] = newcomers(all, 2);
      return [...all, { ...other!, manager: one!.external_id }, one!];
    },
    { sizes: SMALL },
  ),

  passes('one person left', { missing: 1 }, gone(ONE)),
  passes('people left, as many as may', { missing: LEFT }, gone(LEFT)),
  passes('one person blocked', { blocked: 1 }, someBlocked(ONE)),
  passes('people blocked, as many as may', { blocked: BLOCKED }, someBlocked(BLOCKED)),
  passes(
    'a person blocked, and their cells emptied',
    { blocked: 1 },
    last(ONE, () => ({ status: 'Blocked', phone: '', mobile: '', about_me: '', authname: '' })),
  ),
  passes('one person left, one hired', { missing: 1, created: 1 }, (all) => [
    ...gone(ONE)(all),
    ...newcomers(all, 1),
  ]),
  passes('some left, more hired', { missing: bySize(1, 2, 4, 20), created: part(15) }, (all) => [
    ...gone(bySize(1, 2, 4, 20))(all),
    ...newcomers(all, part(15)(all.length)),
  ]),
  passes(
    'somebody left on each of four nights',
    { missing: 1 },
    gone(() => 4),
    { before: [{ file: gone(ONE) }, { file: gone(() => 2) }, { file: gone(() => 3) }] },
  ),
  passes(
    'as many left in a week as may',
    { blocked: bySize(3, 3, 4, 30) },
    someBlocked(bySize(6, 6, 9, 60)),
    { before: [{ file: someBlocked(bySize(3, 3, 5, 30)) }] },
  ),
  passes('one person returned', { reactivated: 1 }, last(ONE, active), { base: someBlocked(ONE) }),
  passes('people returned from leave', { reactivated: bySize(3, 3, 4, 30) }, each(active), {
    base: someBlocked(bySize(3, 3, 4, 30)),
  }),
  passes(
    'some returned, others left',
    { reactivated: 2, blocked: 2 },
    both(
      where((_, { status }) => status === 'Blocked', active),
      where((i) => i < 2, blocked),
    ),
    { base: someBlocked(() => 2) },
  ),
  passes(
    'a person who was missing last night is back',
    { reactivated: 1 },
    (all) => [...all, ...newcomers(all, 2)],
    {
      before: [
        { file: (all) => [...gone(ONE)(all), ...newcomers(all, 1)] },
        { file: (all) => [...gone(ONE)(all), ...newcomers(all, 2)] },
      ],
    },
  ),
  passes(
    'a manager left, and a small team has another one',
    { missing: 1, updated: bySize(2, 3, 4, 4) },
    (all) =>
      where(teamOf(lastManager(all)), () => ({ manager: all[0]!.external_id }))(all).filter(
        ({ external_id }) => external_id !== lastManager(all),
      ),
  ),
  passes(
    'a manager is blocked, and stays the manager on paper',
    { blocked: 1 },
    (all) => where((_, { external_id }) => external_id === lastManager(all), blocked)(all),
    { sizes: SMALL },
  ),
  passes(
    'a manager left, and nobody follows yet',
    { missing: 1, updated: 4 },
    (all) =>
      where(teamOf(lastManager(all)), () => ({ manager: '' }))(all).filter(
        ({ external_id }) => external_id !== lastManager(all),
      ),
    { sizes: [50, 400] },
  ),
];
