import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseFault } from '../engine/database-fault.js';
import type { Server } from '../engine/connection-options.js';
import { type Session, openedAs } from './session.js';
import type { Writability } from '../engine/sql.js';

/** How long a later host that takes changes waits for the answer of an earlier one, which may be cut off. */
const PREFERENCE_MILLIS = 1000;

/** Servers answer, but none takes changes. */
export class NoWriter extends Error {
  /** What can be said of all of them: they are in step, or not. */
  readonly writability: Writability;

  constructor(answers: readonly Session[]) {
    const states = answers.map((session) => `${session.server.name} is ${openedAs(session)}`);
    super(`no host of DATABASE_URL takes changes: ${states.join(', ')}`);
    this.writability = answers.some((session) => openedAs(session) === 'read_only')
      ? 'read_only'
      : 'out_of_sync';
  }
}

/** Where the choice gets its sessions from. */
export interface Opener {
  open: (server: Server) => Promise<Session>;
  end: (session: Session) => unknown;
}

/**
 * A session of the first server that takes changes and is in step, all of them asked at once: one that does not answer
 * costs at most a second. Where none is in step a donor of Galera will do, so that the last node of a cluster
 * serves while it feeds another one.
 * @throws DatabaseFault `moved` when servers answer but take no changes, `away` when none answers.
 */
export async function chooseSession(servers: readonly Server[], { open, end }: Opener): Promise<Session> {
  const attempts = servers.map((server) => open(server));
  const results: Promise<Session | undefined>[] = attempts.map((attempt) => attempt.catch(() => undefined));
  const isGood = (session: Session | undefined) => session !== undefined && openedAs(session) === 'writable';
  const chosen = (await firstInOrder(results, isGood)) ?? (await firstInOrder(results, isDonor));
  for (const result of results) {
    void result.then((session) => session && session !== chosen && end(session));
  }
  if (chosen) return chosen;
  throw await refusal(attempts);
}

/**
 * The first result in order that fits; once any fits, the earlier ones have a second more. Undefined when none does.
 */
async function firstInOrder<T>(
  results: readonly Promise<T>[],
  fits: (result: T) => boolean,
): Promise<T | undefined> {
  const settled = new Map<number, T>();
  const patience = new AbortController();
  const anyFits = Promise.any(
    results.map(async (result) => {
      if (!fits(await result)) throw new Error('does not fit');
    }),
  );
  const enough = anyFits.then(
    () => delay(PREFERENCE_MILLIS, undefined, { signal: patience.signal }).catch(() => undefined),
    () => undefined,
  );
  try {
    for (const [index, result] of results.entries()) {
      void result.then((value) => settled.set(index, value));
    }
    for (const [index, result] of results.entries()) {
      await Promise.race([result, enough]);
      const value = settled.get(index);
      if (value !== undefined && fits(value)) return value;
    }
    return undefined;
  } finally {
    patience.abort();
  }
}

/** The node feeds another one, and is ready for all that. */
function isDonor(session: Session | undefined): boolean {
  const galera = session?.state.galera;
  if (!session || session.state.readOnly || !galera) return false;
  return galera.ready && galera.primary && galera.comment.startsWith('Donor');
}

/** Why there is no session. */
async function refusal(attempts: readonly Promise<Session>[]): Promise<Error> {
  const results = await Promise.allSettled(attempts);
  const answers = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  if (answers.length > 0) return new DatabaseFault('moved', new NoWriter(answers));
  const reasons = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  );
  const refused = reasons.find((reason) => reason instanceof DatabaseFault && reason.fault === 'moved');
  const reason = refused ?? reasons[0];
  return reason instanceof Error ? reason : new Error(String(reason));
}
