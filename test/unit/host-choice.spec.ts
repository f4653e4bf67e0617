import { describe, expect, test } from '@jest/globals';
import { parseDatabaseUrl } from '../../src/platform/config/database-url.js';
import { serversOf } from '../../src/platform/database/engine/connection-options.js';
import { DatabaseError } from '../../src/platform/database/engine/database-error.js';
import {
  chooseSession,
  type ServerSession,
  toServerState,
  writeStateOf,
} from '../../src/platform/database/mysql/session.js';

describe('DATABASE_URL', () => {
  const readHosts = (url: string) => parseDatabaseUrl(url)?.hosts.map(({ host, port }) => `${host} ${port}`);
  test.each([
    ['mysql://u:p@db/x', ['db 3306']],
    ['mariadb://db:3307/x', ['db 3307']],
    ['mysql://u:p@h1,h2,h3:3307/x', ['h1 3306', 'h2 3306', 'h3 3307']],
    ['mysql://u:p@h1:1,[::1]:2,[fe80::1],10.0.0.1:4/x', ['h1 1', '::1 2', 'fe80::1 3306', '10.0.0.1 4']],
    ['mysql://u:a,b%40c@h1,h2/x', ['h1 3306', 'h2 3306']],
  ])('%s has the hosts %j', (url, expected) => {
    expect(readHosts(url)).toEqual(expected);
  });
  test('has one decoded user, password and database for all hosts', () => {
    const parsed = parseDatabaseUrl('mysql://us%2Cer:p%40s,s@h1,h2/my%20base');
    expect(parsed).toMatchObject({ user: 'us,er', password: 'p@s,s', database: 'my base' });
  });
  test.each([
    'mysql://u:p@h1,,h2/x',
    'mysql://u:p@h1:99999,h2/x',
    'mysql://u:p@h1,h2',
    'mysql://u:p@h1,h2/',
    'mysql://u:p@h1,h2/x?ssl=true',
    'mysql://u:p@h1,h2/x/y',
    'mysql://u:p%2@h1,h2/x',
    'mysql://h1/x,h2/x',
  ])('%s is refused', (url) => {
    expect(parseDatabaseUrl(url)).toBeUndefined();
  });
  test('with an IPv6 address gives a host without brackets', () => {
    const [server] = serversOf({ databaseUrl: 'mysql://[::1]:3307/x', DATABASE_POOL_SIZE: 1 });
    expect(server).toMatchObject({ name: '[::1]:3307', options: { host: '::1', port: 3307 } });
  });
});

const galeraState = (ready: string, status: string, comment: string) =>
  `WSREP_CLUSTER_STATUS=${status};WSREP_LOCAL_STATE_COMMENT=${comment};WSREP_PROVIDER_NAME=Galera;WSREP_READY=${ready}`;
const NONE = 'WSREP_CLUSTER_STATUS=Disconnected;WSREP_PROVIDER_NAME=;WSREP_READY=OFF';
const SYNCED = galeraState('ON', 'Primary', 'Synced');
const DONOR = galeraState('ON', 'Primary', 'Donor/Desynced');

describe('the write state', () => {
  test.each([
    ['MySQL', 'writable', 0, undefined],
    ['MariaDB without Galera', 'writable', 0, NONE],
    ['MariaDB built without Galera', 'writable', 0, null],
    ['a replica', 'read_only', 1, NONE],
    ['a replica of a newer MariaDB', 'read_only', 'ON', NONE],
    ['a primary of a newer MariaDB', 'writable', 'OFF', NONE],
    ['a synchronized Galera node', 'writable', 0, SYNCED],
    ['a read-only Galera node', 'read_only', 1, SYNCED],
    ['a Galera donor', 'out_of_sync', 0, DONOR],
    ['a joining Galera node', 'out_of_sync', 0, galeraState('OFF', 'Primary', 'Joining: receiving')],
    ['a Galera node without a cluster', 'out_of_sync', 0, galeraState('OFF', 'non-Primary', 'Initialized')],
  ])('of %s is %s', (_, expected, read_only, wsrep) => {
    const row = { version: '10.11', read_only, ...(wsrep !== undefined && { wsrep }) };
    expect(writeStateOf(toServerState(row))).toBe(expected);
  });
});

describe('database host selection', () => {
  const servers = serversOf({ databaseUrl: 'mysql://a,b,c/x', DATABASE_POOL_SIZE: 1 });
  type Outcome = [wsrep: string, readOnly?: number, millis?: number] | Error | 'silent';

  /** Chooses among servers that respond with these outcomes. */
  async function choose(...outcomes: Outcome[]) {
    const ended: string[] = [];
    const answers: Promise<ServerSession>[] = [];
    const open = (server: (typeof servers)[number]): Promise<ServerSession> => {
      const outcome = outcomes[servers.indexOf(server)];
      if (outcome === undefined || outcome === 'silent') return new Promise(() => undefined);
      const answer = respond(server, outcome);
      answers.push(answer);
      return answer;
    };
    const respond = async (server: (typeof servers)[number], outcome: Exclude<Outcome, 'silent'>) => {
      if (outcome instanceof Error) throw outcome;
      const [wsrep, read_only = 0, millis = 0] = outcome;
      await new Promise((resolve) => setTimeout(resolve, millis));
      return { server, state: toServerState({ version: '10.11', read_only, wsrep }) } as ServerSession;
    };
    const end = ({ server }: ServerSession) => ended.push(server.options.host);
    const chosen = await chooseSession(servers, { open, end });
    await Promise.allSettled(answers);
    await new Promise(setImmediate);
    return { chosen: chosen.server.options.host, ended };
  }
  const away = new DatabaseError('away', new Error('ECONNREFUSED'));

  test('takes the first writable server', async () => {
    expect(await choose([SYNCED], [SYNCED], [SYNCED])).toEqual({ chosen: 'a', ended: ['b', 'c'] });
    expect(await choose([NONE, 1], [NONE], [NONE, 1])).toEqual({ chosen: 'b', ended: ['a', 'c'] });
    expect(await choose(away, [DONOR], [SYNCED])).toEqual({ chosen: 'c', ended: ['b'] });
  });
  test('waits briefly for an earlier server in the list', async () => {
    expect((await choose([NONE, 0, 100], [NONE], [NONE])).chosen).toBe('a');
    expect((await choose('silent', [NONE], [NONE])).chosen).toBe('b');
  });
  test('takes a Galera donor if no synchronized node is available', async () => {
    expect((await choose(away, [DONOR], away)).chosen).toBe('b');
  });
  test('fails with "moved" if no server is writable', async () => {
    const message = expect.stringMatching(/a:3306 is read_only, c:3306 is read_only/);
    const error = { fault: 'moved', cause: { writeState: 'read_only', message } };
    await expect(choose([NONE, 1], away, [NONE, 1])).rejects.toMatchObject(error);
    await expect(choose(away, away, away)).rejects.toBe(away);
  });
});
