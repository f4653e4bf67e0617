import {
  activate,
  block,
  combine,
  pick,
  drop,
  hire,
  patchLast,
  dropSome,
  patch,
  share,
  blockSome,
  patchIf,
} from './changes.js';
import { passes } from './night.js';
import { type Person, getNext } from './people.js';

/** New, missing, blocked and returning people. */

const ONE = () => 1;
const FEW = pick(1, 1, 2, 8);
const LEFT = pick(1, 3, 5, 40);
const BLOCKED = pick(3, 3, 5, 40);
const SMALL = [8, 19, 50];
/** Returns the external id of the manager of the last person. */
const lastManagerOf = (all: readonly Person[]): string => all.at(-1)!.manager;
const isInTeamOf = (manager: string) => (_: number, person: Person) => person.manager === manager;

export const NIGHTS_OF_PEOPLE = [
  passes('no changes', {}, (all) => all),
  passes('one new person', { created: 1 }, hire(ONE)),
  passes('a new department of a third of the company', { created: share(33) }, hire(share(33)), {
    sizes: SMALL,
  }),
  passes('a new person without a manager', { created: 1 }, hire(ONE, { manager: '' }), { sizes: SMALL }),
  passes(
    'new people with the same phone',
    { created: share(15) },
    hire(share(15), { phone: '+44 113 496 0000' }),
  ),
  passes(
    'new people without roles, with the option default_roles',
    { created: FEW },
    hire(FEW, { roles: '' }),
    { options: 'missing=block&default_roles=Author', sizes: SMALL },
  ),
  passes(
    'a new person with most fields blank',
    { created: 1 },
    hire(ONE, { firstname: '', phone: '', mobile: '', authname: '', about_me: '', hide_email: '' }),
    { sizes: SMALL },
  ),
  passes(
    'new people on two nights in a row',
    { created: FEW },
    (all) => [...all, ...getNext(all, 2), ...getNext(all, FEW(all.length), all.length + 2)],
    { before: [{ file: hire(() => 2) }] },
  ),
  passes(
    'a new person who manages another new person',
    { created: 2 },
    (all) => {
      const [one, other] = getNext(all, 2);
      return [...all, { ...other!, manager: one!.external_id }, one!];
    },
    { sizes: SMALL },
  ),

  passes('one missing person', { missing: 1 }, drop(ONE)),
  passes('missing people up to the limit', { missing: LEFT }, dropSome(LEFT)),
  passes('one blocked person', { blocked: 1 }, blockSome(ONE)),
  passes('blocked people up to the limit', { blocked: BLOCKED }, blockSome(BLOCKED)),
  passes(
    'one blocked person with emptied cells',
    { blocked: 1 },
    patchLast(ONE, () => ({ status: 'Blocked', phone: '', mobile: '', about_me: '', authname: '' })),
  ),
  passes('one missing and one new person', { missing: 1, created: 1 }, (all) => [
    ...drop(ONE)(all),
    ...getNext(all, 1),
  ]),
  passes(
    'one missing person on each of four nights',
    { missing: 1 },
    drop(() => 4),
    { before: [{ file: drop(ONE) }, { file: drop(() => 2) }, { file: drop(() => 3) }] },
  ),
  passes(
    'blocked people on two nights up to the limit of 30 days',
    { blocked: pick(3, 3, 4, 30) },
    blockSome(pick(6, 6, 9, 60)),
    { before: [{ file: blockSome(pick(3, 3, 5, 30)) }] },
  ),
  passes('one reactivated person', { reactivated: 1 }, patch(activate), { base: blockSome(ONE) }),
  passes(
    'some reactivated and some blocked people',
    { reactivated: 2, blocked: 2 },
    combine(
      patchIf((_, { status }) => status === 'Blocked', activate),
      patchIf((i) => i < 2, block),
    ),
    { base: blockSome(() => 2) },
  ),
  passes('a missing manager whose team has a new manager', { missing: 1, updated: pick(2, 3, 4, 4) }, (all) =>
    patchIf(isInTeamOf(lastManagerOf(all)), () => ({ manager: all[0]!.external_id }))(all).filter(
      ({ external_id }) => external_id !== lastManagerOf(all),
    ),
  ),
  passes(
    'a blocked manager whose team is unchanged',
    { blocked: 1 },
    (all) => patchIf((_, { external_id }) => external_id === lastManagerOf(all), block)(all),
    { sizes: SMALL },
  ),
  passes(
    'a missing manager whose team has no new manager',
    { missing: 1, updated: 4 },
    (all) =>
      patchIf(isInTeamOf(lastManagerOf(all)), () => ({ manager: '' }))(all).filter(
        ({ external_id }) => external_id !== lastManagerOf(all),
      ),
    { sizes: [50, 400] },
  ),
];
