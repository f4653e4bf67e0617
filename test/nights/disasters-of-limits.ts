import { pick, encodeTwice, patchLast, maskAccents, patchIf } from './changes.js';
import { stops } from './disaster.js';
import { type Person, toAscii } from './people.js';

/** Changes of one person more than the limits allow. */

/** Changes the first `count` surnames that have an accent. */
const mapAccented =
  (count: (size: number) => number, change: (cell: string) => string) =>
  (all: readonly Person[]): Person[] => {
    const some = all.filter(({ surname }) => toAscii(surname) !== surname).slice(0, count(all.length));
    return patchIf(
      (_, person) => some.includes(person),
      ({ surname }) => ({ surname: change(surname) }),
    )(all);
  };

export const DISASTERS_OF_LIMITS = [
  stops(
    'one emptied phone more than the limit',
    'emptied_field phone',
    patchLast(pick(3, 3, 6, 41), () => ({ phone: '' })),
  ),
  stops(
    'one changed phone more than the limit',
    'changed_field phone',
    patchLast(pick(3, 4, 11, 81), ({ phone }) => ({ phone: `${phone} x1` })),
  ),
  stops(
    'one changed manager more than the limit',
    'changed_field manager_uuid',
    patchLast(pick(3, 4, 11, 81), (_, __, all) => ({ manager: all[0]!.external_id })),
    { sizes: [19, 50, 400] },
  ),
  stops(
    'one changed username more than the limit',
    'changed_field username',
    patchLast(pick(3, 3, 6, 41), ({ username }) => ({ username: `new.${username}` })),
  ),
  stops(
    'one changed e-mail more than the limit',
    'changed_field email',
    patchLast(pick(3, 3, 6, 41), ({ email }) => ({ email: `new.${email}` })),
  ),
  stops(
    'changed roles of one person more than the limit',
    'changed_field roles',
    patchLast(pick(3, 3, 6, 41), () => ({ roles: 'Blogger' })),
  ),
  stops(
    'a few surnames with ? in place of accents',
    'garbled_text surname',
    mapAccented(pick(0, 4, 4, 5), maskAccents),
    { sizes: [19, 50, 400] },
  ),
  stops('a few surnames encoded twice', 'garbled_text surname', mapAccented(pick(0, 4, 4, 5), encodeTwice), {
    sizes: [19, 50, 400],
  }),
];
