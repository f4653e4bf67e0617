import { setTimeout as delay } from 'node:timers/promises';
import type { Server } from '../engine/connection-options.js';
import { DatabaseFault } from '../engine/database-fault.js';
import type { Writability } from '../engine/sql.js';
import { type Session, endSession, openSession, writabilityOf } from './session.js';

/** How long an earlier host may take to answer where a later one takes changes. It may be cut off. */
const PREFERENCE_MILLIS = 1000;

/** Servers answer, but none takes changes. */
export class NoWriterError extends Error {
  /** `read_only` where one of them is in step, else `out_of_sync`. */
  readonly writability: Writability;

  constructor(answers: readonly Session[]) {
    const states = answers.map(({ server, state }) => ({ name: server.name, is: writabilityOf(state) }));
    const named = states.map(({ name, is }) => `${name} is ${is}`).join(', ');
    super(`no host of DATABASE_URL takes changes: ${named}`);
    this.writability = states.some(({ is }) => is === 'read_only') ? 'read_only' : 'out_of_sync';
  }
}

/** How sessions are opened and ended. */
export interface Opener {
  open: (server: Server) => Promise<Session>;
  end: (session: Session) => unknown;
}

/**
 * Returns a session of the first server that takes changes and is in step. Asks all of them at once: one that does not
 * answer costs at most a second. Where none is in step a donor of Galera will do, so that the last node of a cluster
 * serves while it feeds another one.
 * @throws DatabaseFault `moved` when servers answer but take no changes, `away` when none answers.
 */
export async function chooseSession(
  servers: readonly Server[],
  { open, end }: Opener = { open: openSession, end: endSession },
): Promise<Session> {
  const attempts = servers.map((server) => open(server));
  const chosen = (await firstOf(attempts, isWritable)) ?? (await firstOf(attempts, isDonor));
  for (const attempt of attempts)
    attempt.then((session) => session !== chosen && end(session)).catch(() => undefined);
  if (chosen) return chosen;
  throw await refusalOf(attempts);
}

/** Returns the first session in order that fits. After a second it is the first to answer. */
async function firstOf(
  attempts: readonly Promise<Session>[],
  fits: (session: Session) => boolean,
): Promise<Session | undefined> {
  const fitting = attempts.map((attempt) =>
    attempt.then(
      (session) => (fits(session) ? session : undefined),
      () => undefined,
    ),
  );
  const late = delay(PREFERENCE_MILLIS, undefined, { ref: false });
  for (const result of fitting) {
    const session = await Promise.race([result, late]);
    if (session) return session;
  }
  const any = fitting.map(async (result) => (await result) ?? Promise.reject(new Error('does not fit')));
  return Promise.any(any).catch(() => undefined);
}

const isWritable = ({ state }: Session): boolean => writabilityOf(state) === 'writable';

/** The node feeds another one, and is ready for all that. */
const isDonor = ({ state: { readOnly, galera } }: Session): boolean =>
  !readOnly && galera?.ready === true && galera.primary && galera.comment.startsWith('Donor');

/** Why there is no session. */
async function refusalOf(attempts: readonly Promise<Session>[]): Promise<Error> {
  const results = await Promise.allSettled(attempts);
  const answers = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  if (answers.length > 0) return new DatabaseFault('moved', new NoWriterError(answers));
  const reasons = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  );
  const refused = reasons.find((reason) => reason instanceof DatabaseFault && reason.fault === 'moved');
  const reason = refused ?? reasons[0];
  return reason instanceof Error ? reason : new Error(String(reason));
}
