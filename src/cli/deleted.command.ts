import type { Command } from 'commander';
import { canonicalUuid } from '../platform/common/uuid.js';
import { DeletedQuery } from '../users/deleted-users.docs.js';
import type { Application } from './application.js';
import { type Place, atPlace, changingCommand, placedCommand } from './places/place.js';
import { queryOf } from './places/query-of.js';
import { USERS } from './places/users-access.js';
import { table, toJson } from './table.js';

const HEAD = ['UUID', 'DELETED (UTC)', 'USERNAME', 'EXTERNAL ID'];

/** Commands about users that an identity provider has deleted. */
export const deletedCommands = (application: Application): Command[] => [
  placedCommand('deleted', 'users that identity providers have deleted, in the order of deletion')
    .option('--since <time>', 'deleted at this time or later')
    .option('--limit <number>', 'users, at most 100', '25')
    .option('--offset <number>', 'users to leave out', '0')
    .action((flags: Place, self: Command) => {
      const query = queryOf(DeletedQuery, flags, self);
      return atPlace(application, flags, USERS, async (users) => {
        const { Count, Results } = await users.deleted(query);
        const rows = Results.map(({ uuid, deleted, username, external_id: externalId }) => [
          uuid,
          deleted.slice(0, 16).replace('T', ' '),
          username,
          externalId,
        ]);
        process.stdout.write(flags.json ? toJson({ Count, Results }) : table([HEAD, ...rows]));
        const next = query.offset + Results.length;
        if (next < Count && Results.length > 0)
          process.stderr.write(`There are ${Count}: --offset ${next}\n`);
      });
    }),
  changingCommand(
    'restore',
    'take back a deleted user, within SCIM_DELETED_DAYS days: as it was, without its groups',
  )
    .argument('<uuid>', 'as "users deleted" lists it')
    .action((text: string, flags: Place) => {
      const uuid = canonicalUuid('<uuid>', text);
      return atPlace(application, flags, USERS, async (users) => {
        const user = await users.restore(uuid);
        process.stdout.write(
          flags.json ? toJson(user) : `${user.username} (${user.uuid}) is restored: ${user.status}.\n`,
        );
      });
    }),
];
