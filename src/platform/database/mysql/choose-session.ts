import { setTimeout as delay } from 'node:timers/promises';
import type { Server } from '../engine/connection-options.js';
import { DatabaseError } from '../engine/database-error.js';
import type { WriteState } from '../engine/sql.js';
import { type ServerSession, endSession, openSession, writeStateOf } from './session.js';

/** Maximum time to wait for earlier servers of the list, which may be unreachable, if a later server is usable. */
const PREFERENCE_MILLIS = 1000;

/** Thrown if at least one server answers, but no server is writable. */
export class NoWriterError extends Error {
  /** State while no server accepts writes: `read_only` if at least one server is in sync, otherwise `out_of_sync`. */
  readonly writeState: WriteState;

  constructor(answers: readonly ServerSession[]) {
    const states = answers.map(({ server, state }) => ({ name: server.name, is: writeStateOf(state) }));
    const named = states.map(({ name, is }) => `${name} is ${is}`).join(', ');
    super(`No server of DATABASE_URL accepts changes: ${named}.`);
    this.writeState = states.some(({ is }) => is === 'read_only') ? 'read_only' : 'out_of_sync';
  }
}

export interface SessionFunctions {
  open: (server: Server) => Promise<ServerSession>;
  end: (session: ServerSession) => unknown;
}

/**
 * Returns a session of the first server that is writable and in sync. All servers are tried at once, so that an
 * unreachable server costs at most a second. The last resort is a Galera donor, so that the last node of a cluster
 * stays usable during a state transfer.
 * @throws DatabaseError `moved` if no server that answers is writable, or `away` if no server answers.
 */
export async function chooseSession(
  servers: readonly Server[],
  { open, end }: SessionFunctions = { open: openSession, end: endSession },
): Promise<ServerSession> {
  const attempts = servers.map((server) => open(server));
  const chosen = (await findSession(attempts, isWritable)) ?? (await findSession(attempts, isDonor));
  for (const attempt of attempts)
    attempt.then((session) => session !== chosen && end(session)).catch(() => undefined);
  if (chosen) return chosen;
  throw await buildNoSessionError(attempts);
}

/**
 * Returns the matching session of the earliest server in the list. After a second, returns the session that matches
 * first. Returns undefined if no session matches.
 */
async function findSession(
  attempts: readonly Promise<ServerSession>[],
  fits: (session: ServerSession) => boolean,
): Promise<ServerSession | undefined> {
  const fitting = attempts.map((attempt) =>
    attempt.then((session) => (fits(session) ? session : undefined)).catch(() => undefined),
  );
  const late = delay(PREFERENCE_MILLIS, undefined, { ref: false });
  for (const result of fitting) {
    const session = await Promise.race([result, late]);
    if (session) return session;
  }
  const any = fitting.map(async (result) => (await result) ?? Promise.reject(new Error('does not match')));
  return Promise.any(any).catch(() => undefined);
}

const isWritable = ({ state }: ServerSession): boolean => writeStateOf(state) === 'writable';

/** Returns true for a Galera node that is the donor of a state transfer and still accepts changes. */
const isDonor = ({ state: { readOnly, galera } }: ServerSession): boolean =>
  !readOnly && galera?.ready === true && galera.primary && galera.comment.startsWith('Donor');

async function buildNoSessionError(attempts: readonly Promise<ServerSession>[]): Promise<Error> {
  const results = await Promise.allSettled(attempts);
  const answers = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  if (answers.length > 0) return new DatabaseError('moved', new NoWriterError(answers));
  const reasons = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  );
  const refused = reasons.find((reason) => reason instanceof DatabaseError && reason.fault === 'moved');
  const reason = refused ?? reasons[0];
  return reason instanceof Error ? reason : new Error(String(reason));
}
