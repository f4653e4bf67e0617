import { bySize, encodedTwice, last, questioned, where } from './changes.js';
import { stops } from './disaster.js';
import { type Person, ascii } from './people.js';

/** One more than the limits allow. */

/** So many of those with an accent, from the top. */
const accented =
  (count: (size: number) => number, change: (cell: string) => string) =>
  (all: readonly Person[]): Person[] => {
    const some = all.filter(({ surname }) => ascii(surname) !== surname).slice(0, count(all.length));
    return where(
      (_, person) => some.includes(person),
      ({ surname }) => ({ surname: change(surname) }),
    )(all);
  };

export const DISASTERS_OF_LIMITS = [
  stops(
    'one emptied phone too many',
    'emptied_field phone',
    last(bySize(3, 3, 6, 41), () => ({ phone: '' })),
  ),
  stops(
    'one changed phone too many',
    'changed_field phone',
    last(bySize(3, 4, 11, 81), ({ phone }) => ({ phone: `${phone} x1` })),
  ),
  stops(
    'one changed manager too many',
    'changed_field manager_uuid',
    last(bySize(3, 4, 11, 81), (_, __, all) => ({ manager: all[0]!.external_id })),
    { sizes: [19, 50, 400] },
  ),
  stops(
    'one changed username too many',
    'changed_field username',
    last(bySize(3, 3, 6, 41), ({ username }) => ({ username: `new.${username}` })),
  ),
  stops(
    'one changed e-mail too many',
    'changed_field email',
    last(bySize(3, 3, 6, 41), ({ email }) => ({ email: `new.${email}` })),
  ),
  stops(
    'roles of one user too many changed',
    'changed_field roles',
    last(bySize(3, 3, 6, 41), () => ({ roles: 'Blogger' })),
  ),
  stops(
    'a few surnames with ? for their accents',
    'garbled_text surname',
    accented(bySize(0, 4, 4, 5), questioned),
    {
      sizes: [19, 50, 400],
    },
  ),
  stops('a few surnames encoded twice', 'garbled_text surname', accented(bySize(0, 4, 4, 5), encodedTwice), {
    sizes: [19, 50, 400],
  }),
];
