import { expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { TransactionRunner } from '../../src/platform/database/transaction-runner.js';
import { SessionsService } from '../../src/sessions/sessions.service.js';
import { setUpApp } from '../support/app/app.js';
import { readAuditRows } from '../support/app/audit-rows.js';
import type { Json } from '../support/app/client.js';
import { SYSTEM } from '../support/app/deletion.js';
import { create } from '../support/data/factories.js';
import { PASSWORD, databaseOf, inSeconds } from '../support/app/people.js';

/** A user has at most 20 sessions. The next login ends the oldest session. */
const app = setUpApp({ HASH_QUEUE_LIMIT: '200' });

const createUser = (): Promise<Json> => create(app.key, { password: PASSWORD });
const readSessions = async (user: Json): Promise<Json[]> =>
  (await app.key.get(`/sessions?user_uuid=${user.uuid as string}&limit=100`)).body.Results;
/** Starts sessions like logins do, but without checking passwords. */
async function startSessions(user: Json, count: number): Promise<void> {
  for (let started = 0; started < count; started++)
    await app.app
      .get(TransactionRunner)
      .run((tx) => app.app.get(SessionsService).start(tx, user.uuid as string, SYSTEM));
}
const login = (user: Json) =>
  app.guest.post('/sessions/login', { username: user.username, password: PASSWORD });

test('a login of a user with 20 sessions ends the oldest session', async () => {
  const [user, other] = [await createUser(), await createUser()];
  await login(other);
  await startSessions(user, 20);
  const [newest] = await readSessions(user);
  const ahead = uuidv7({ msecs: Date.now() + 48 * 3_600_000 }); // from before the clock was set back
  await databaseOf(app).execute('UPDATE sessions SET id = ? WHERE id = ?', [ahead, newest?.id as string]);
  const before = await readSessions(user);
  expect(before).toHaveLength(20);
  expect((await login(user)).status).toBe(200);
  expect((await readSessions(user)).slice(1)).toEqual(before.slice(0, -1));
  const oldest = before.at(-1) as { id: string };
  const [created, ended] = await readAuditRows(app, oldest.id);
  expect([created?.action, ended?.action]).toEqual(['session.created', 'session.ended']);
  expect(await readSessions(other)).toHaveLength(1);
});

test('expired sessions do not count towards the limit of 20 sessions', async () => {
  const user = await createUser();
  await startSessions(user, 19);
  const live = (await readSessions(user)).at(-1) as { id: string }; // the oldest session, which would end first
  await databaseOf(app).execute('UPDATE sessions SET expires = ? WHERE user_uuid = ? AND id <> ?', [
    ...[inSeconds(-1), user.uuid as string, live.id],
  ]);
  await startSessions(user, 4);
  expect((await login(user)).status).toBe(200);
  const after = await readSessions(user);
  expect([after.length, after.at(-1)?.id]).toEqual([6, live.id]);
});

test('concurrent logins never leave a user with more than 20 sessions', async () => {
  const user = await createUser();
  await startSessions(user, 15);
  const answers = await Promise.all(Array.from({ length: 15 }, () => login(user)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(await readSessions(user)).toHaveLength(20);
});
