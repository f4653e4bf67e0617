import type { Client, Json } from '../app/client.js';
import { csv, findUser, upload } from '../app/imports.js';

/** Profile of a typical source: other words for roles, names from templates, and a confidential column. */
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
/** Profile of a source with many people of the same name. */
const NAMESAKES = {
  dataset: 'guests',
  set: {
    Username: '{Family:ascii:lower:unique}',
    Email: '{Key:lower}@example.org',
  },
  columns: { Key: 'ExternalId', Family: 'Surname' },
};
const HEAD = 'Key,Given,Family,Mail,Tel,Boss,Kind,Pay';
const PEOPLE = { north: 550, south: 200 } as const;
type Part = keyof typeof PEOPLE;

/** Differences from the file of the first night. */
interface Changes {
  isGone?: (i: number) => boolean;
  phone?: (i: number) => string;
  family?: (i: number) => string;
  /** Returns the number of the user whose address user `i` gets. */
  mail?: (i: number) => number;
  more?: number;
  /** True if some people of the north have moved to the file of the south. */
  hasMoves?: boolean;
}

const keyOf = (part: Part, i: number): string => `${part === 'north' ? 'N' : 'S'}${i}`;
const isMoving = (i: number): boolean => i % 50 === 21;

function toRow(part: Part, i: number, { phone, family, mail }: Changes): string {
  const address = i % 100 === 57 ? 'wrong' : `${keyOf(part, mail?.(i) ?? i)}@example.org`;
  const boss = i > 0 ? `N${Math.floor((i - 1) / (part === 'north' ? 5 : 3))}` : '';
  const cells = [`Gi${i}`, family?.(i) ?? `Fam${i}`, address, phone?.(i) ?? `+44 ${i}`, boss];
  return [keyOf(part, i), ...cells, ['E', 'A', 'x', ''][i % 4], `${i}000`].join();
}

/** Builds the file of a part. Some rows fail, and most have a manager. Managers of the south are in the north. */
function toFile(part: Part, changes: Changes): string {
  const { isGone, more = 0, hasMoves = false } = changes;
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
  const own = numbers(PEOPLE[part] + more).filter((i) => isGone?.(i) !== true);
  const stay = part === 'north' && hasMoves ? own.filter((i) => !isMoving(i)) : own;
  const others = part === 'south' && hasMoves ? numbers(PEOPLE.north).filter(isMoving) : [];
  return csv(
    HEAD,
    ...stay.map((i) => toRow(part, i, changes)),
    ...others.map((i) => toRow('north', i, { phone: MOVED })),
  );
}

/** An action of an operator or a schedule. The kills happen during its run. */
interface Step {
  name: string;
  /** @param runs the runs of earlier steps. @returns the id of the run to wait for. */
  begin: (client: Client, runs: readonly Json[]) => Promise<string>;
  /** The state in which the run ends or waits. */
  ends: string;
}

const aNight = (name: string, part: Part, changes: Changes, ends = 'completed_with_errors'): Step => ({
  name,
  begin: async (client) => idOf(await upload(client, toFile(part, changes), `profile=staff&part=${part}`)),
  ends,
});

/** A ring with more users than rows in a batch. Each user takes the address of the next user. */
const RING = (i: number): number => (i % 2 === 0 && i < PEOPLE.south ? (i + 2) % PEOPLE.south : i);
const RENAMED = { family: (i: number) => `Other${i}`, mail: RING, hasMoves: true };
/** Two users swap their addresses. */
const SWAP = (i: number): number => (i === 3 ? 4 : i === 4 ? 3 : i);
/** Changes the phone of some users. */
const MOVED = (i: number): string => `+44 ${i + (i % 9 === 0 ? 7 : 0)}`;
const RETURN: Changes = { isGone: (i) => i % 60 === 31, phone: MOVED, mail: SWAP, more: 60, hasMoves: true };
const LEAVERS = { north: (i: number) => i % 30 === 11, south: (i: number) => i % 40 === 13 };

/**
 * Nightly imports of a source with two parts: new users, changes, leavers and returning users. One plan is approved and
 * reverted with conflicts, and a plan that would repeat it is rejected. Bulk changes, of which one is reverted, and a
 * source with unique usernames follow.
 */
export const NIGHTS: readonly Step[] = [
  aNight('first file of the north', 'north', {}),
  aNight('first file of the south', 'south', {}),
  aNight('some users leave the north', 'north', {
    isGone: LEAVERS.north,
    phone: MOVED,
    mail: SWAP,
    more: 40,
  }),
  aNight('some users leave the south, and some move there from the north', 'south', {
    isGone: LEAVERS.south,
    more: 10,
    hasMoves: true,
  }),
  aNight('users return to the north, and others leave', 'north', RETURN),
  aNight(
    'all users of the south change their surname, and half of them swap addresses',
    'south',
    RENAMED,
    'needs_approval',
  ),
  {
    name: 'the plan is approved',
    begin: (client, runs) => postToLast(client, runs, 'apply'),
    ends: 'completed_with_errors',
  },
  {
    name: 'the run is reverted, with conflicts',
    begin: async (client, runs) => {
      for (const key of ['S0', 'S1', 'S2']) {
        const { uuid } = await findUser(client, key);
        await client.put(`/users/${uuid}`, { surname: `by hand ${key}` });
      }
      return postToLast(client, runs, 'revert');
    },
    ends: 'completed_with_errors',
  },
  aNight('the same file again', 'south', RENAMED, 'needs_approval'),
  {
    name: 'the plan is rejected',
    begin: (client, runs) => postToLast(client, runs, 'reject'),
    ends: 'rejected',
  },
  {
    name: 'a bulk change deletes users',
    begin: async (client) =>
      startBulkChange(client, { manager_uuid: (await findUser(client, 'N5')).uuid }, { delete: true }),
    ends: 'completed',
  },
  aNight('an unchanged file of the north lists users who were deleted elsewhere', 'north', RETURN),
  {
    name: 'the deletion is reverted',
    begin: async (client, runs) => idOf(await client.post(`/imports/${runs.at(-2).id}/revert`)),
    ends: 'completed',
  },
  {
    name: 'a bulk change of the roles by which its users are selected',
    begin: (client) =>
      startBulkChange(client, { role: ['Author'] }, { add_roles: ['Editor'], remove_roles: ['Author'] }),
    ends: 'completed',
  },
  {
    name: 'users with the same name get unique usernames',
    begin: async (client) => {
      const rows = Array.from({ length: 400 }, (_, i) => `G${i},${i % 90 === 7 ? '' : `Smith${i % 7}`}`);
      return idOf(await upload(client, csv('Key,Family', ...rows), 'profile=namesakes'));
    },
    ends: 'completed_with_errors',
  },
];

const startBulkChange = async (client: Client, where: object, change: object): Promise<string> =>
  idOf(await client.post('/imports', { where: { managed_by: 'staff', ...where }, change, reason: 'Moved' }));

const postToLast = async (client: Client, runs: readonly Json[], action: string): Promise<string> =>
  idOf(await client.post(`/imports/${runs.at(-1).id}/${action}`));

/** Saves the profiles of the sources. */
export async function saveProfiles(client: Client): Promise<void> {
  for (const [name, profile] of Object.entries({ staff: PROFILE, namesakes: NAMESAKES })) {
    const { status, text } = await client.put(`/import_profiles/${name}`, profile);
    if (status >= 300) throw new Error(`the profile: ${text}`);
  }
}

function idOf({ status, text, body }: { status: number; text: string; body: Json }): string {
  if (status >= 300) throw new Error(`${status} ${text}`);
  return String(body.id);
}
