import type { Client, Json } from '../app/client.js';
import { csv, linked, upload } from '../app/imports.js';

/** A source as most are: words of its own, names made by templates, a column that nobody may see. */
const PROFILE = {
  dataset: 'staff',
  missing: 'block',
  columns: {
    Key: 'ExternalId',
    Given: 'ForeName',
    Family: 'Surname',
    Tel: 'Phone',
    Boss: 'Manager',
    Kind: 'Roles',
    Pay: 'ignore',
  },
  values: { Roles: { E: 'Editor', A: 'Author', '*': '' } },
  set: { Username: '{Key:lower}', Email: '{Mail|Key:lower}', KnownAs: 'of {Given:ascii}' },
};
const HEAD = 'Key,Given,Family,Mail,Tel,Boss,Kind,Pay';
const PEOPLE = { north: 550, south: 200 } as const;
type Part = keyof typeof PEOPLE;

/** What differs from the first night. */
interface Changes {
  gone?: (i: number) => boolean;
  phone?: (i: number) => string;
  family?: (i: number) => string;
  /** Whose address somebody has. */
  mail?: (i: number) => number;
  more?: number;
  /** Some people of the north are in the file of the south, and no longer in theirs. */
  moved?: boolean;
}

const keyOf = (part: Part, i: number): string => `${part === 'north' ? 'N' : 'S'}${i}`;
const moves = (i: number): boolean => i % 50 === 21;

function row(part: Part, i: number, { phone, family, mail }: Changes): string {
  const address = i % 100 === 57 ? 'wrong' : `${keyOf(part, mail?.(i) ?? i)}@example.org`;
  const boss = i > 0 ? `N${Math.floor((i - 1) / (part === 'north' ? 5 : 3))}` : '';
  const cells = [`Gi${i}`, family?.(i) ?? `Fam${i}`, address, phone?.(i) ?? `+44 ${i}`, boss];
  return [keyOf(part, i), ...cells, ['E', 'A', 'x', ''][i % 4], `${i}000`].join();
}

/** Some rows fail, most have a manager, and those of the south are in the north. */
function file(part: Part, changes: Changes): string {
  const { gone, more = 0, moved = false } = changes;
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
  const own = numbers(PEOPLE[part] + more).filter((i) => gone?.(i) !== true);
  const stay = part === 'north' && moved ? own.filter((i) => !moves(i)) : own;
  const others = part === 'south' && moved ? numbers(PEOPLE.north).filter(moves) : [];
  return csv(
    HEAD,
    ...stay.map((i) => row(part, i, changes)),
    ...others.map((i) => row('north', i, { phone: MOVED })),
  );
}

/** One thing that an operator or a schedule does, to whose run the kills belong. */
interface Step {
  name: string;
  /** @param runs those of the steps before. @returns the run that is to settle. */
  begin: (client: Client, runs: readonly Json[]) => Promise<string>;
  /** Where it settles. */
  ends: string;
}

const night = (name: string, part: Part, changes: Changes, ends = 'completed_with_errors'): Step => ({
  name,
  begin: async (client) => idOf(await upload(client, file(part, changes), `profile=staff&part=${part}`)),
  ends,
});

/** A ring of more users than a batch has rows: each user takes the address of the next user. */
const RING = (i: number): number => (i % 2 === 0 && i < PEOPLE.south ? (i + 2) % PEOPLE.south : i);
const MARRIED = { family: (i: number) => `Other${i}`, mail: RING, moved: true };
/** Two of them take the address of each other. */
const SWAP = (i: number): number => (i === 3 ? 4 : i === 4 ? 3 : i);
/** Another phone for some. */
const MOVED = (i: number): string => `+44 ${i + (i % 9 === 0 ? 7 : 0)}`;
const LEAVERS = { north: (i: number) => i % 30 === 11, south: (i: number) => i % 40 === 13 };

/**
 * Nights of a source of two parts: newcomers, changes, leavers and returners, a plan that is approved, one that is undone
 * with conflicts, and one that would repeat it and is refused.
 */
export const NIGHTS: readonly Step[] = [
  night('the north is new', 'north', {}),
  night('the south is new', 'south', {}),
  night('some leave the north', 'north', { gone: LEAVERS.north, phone: MOVED, mail: SWAP, more: 40 }),
  night('some leave the south, and some of the north come', 'south', {
    gone: LEAVERS.south,
    more: 10,
    moved: true,
  }),
  night('they return to the north, and others leave', 'north', {
    gone: (i) => i % 60 === 31,
    phone: MOVED,
    mail: SWAP,
    more: 60,
    moved: true,
  }),
  night(
    'all of the south have another surname, and half of them the address of another',
    'south',
    MARRIED,
    'needs_approval',
  ),
  {
    name: 'that is approved',
    begin: async (client, runs) => {
      const { id } = runs.at(-1);
      return idOf(await client.post(`/imports/${id}/apply`));
    },
    ends: 'completed_with_errors',
  },
  {
    name: 'it is undone, with conflicts',
    begin: async (client, runs) => {
      for (const key of ['S0', 'S1', 'S2']) {
        const { uuid } = await linked(client, key);
        await client.put(`/users/${uuid}`, { surname: `by hand ${key}` });
      }
      const { id } = runs.at(-1);
      return idOf(await client.post(`/imports/${id}/revert`));
    },
    ends: 'completed_with_errors',
  },
  night('the same again', 'south', MARRIED, 'needs_approval'),
  {
    name: 'that is refused',
    begin: async (client, runs) => {
      const { id } = runs.at(-1);
      return idOf(await client.post(`/imports/${id}/reject`));
    },
    ends: 'rejected',
  },
  night('nothing new in the north', 'north', {
    gone: (i) => i % 60 === 31,
    phone: MOVED,
    mail: SWAP,
    more: 60,
    moved: true,
  }),
];

/** Saves the profile of the source. */
export async function saveProfile(client: Client): Promise<void> {
  const { status, text } = await client.put('/import_profiles/staff', PROFILE);
  if (status >= 300) throw new Error(`the profile: ${text}`);
}

function idOf({ status, text, body }: { status: number; text: string; body: Json }): string {
  if (status >= 300) throw new Error(`${status} ${text}`);
  return String(body.id);
}
