import { type Pool, type PoolConnection, createPool } from 'mysql2';
import { setTimeout as delay } from 'node:timers/promises';
import type { Server } from '../engine/connection-options.js';
import {
  DatabaseFault,
  isCrowded,
  isRefused,
  isServerWide,
  poolClosed,
  toDatabaseError,
} from '../engine/database-fault.js';
import type { Load } from '../engine/sql.js';
import { NoWriterError, chooseSession } from './host-choice.js';
import { type Reject, type Resolve, breakConnection } from './mysql-statement.js';
import {
  type Session,
  endConnection,
  endSession,
  ofConnect,
  readState,
  setUp,
  writabilityOf,
} from './session.js';

/** How long requests wait for a server that takes changes. While none has for longer, they fail at once. */
const FAILOVER_MILLIS = 5000;
/** How often the state of the server in use is read where there is a choice. A refusal ends no younger term. */
const LOOK_MILLIS = 1000;
/** Looks until an earlier node of a Galera cluster is tried. */
const RETURN_LOOKS = 30;
/** A server that answers nothing for so long hangs. */
const HANG_MILLIS = 5000;

/** The time with one server. */
interface Term {
  readonly began: number;
  readonly server: Server;
  readonly pool: Pool;
  /** Where there is a choice, the session of the chosen server, on which its state is read. */
  readonly watched: Session | undefined;
}

interface Waiter {
  resolve: Resolve<PoolConnection>;
  reject: Reject;
}

/**
 * The connections of the service, on a pool of the driver, all of them to one server: the first of `DATABASE_URL` that
 * takes changes and is in step. At the first sign that this is over, the term ends: idle connections are closed, others
 * when they are released, and the next request chooses a server again. With one host in `DATABASE_URL` there is no
 * choice, and it is used for reads while it takes no changes.
 */
export class MysqlPool {
  private readonly open = new Map<PoolConnection, Term>();
  private readonly inUse = new Set<PoolConnection>();
  private readonly waiters = new Set<Waiter>();
  /** Those of them that wait for a release, since the server has as many connections as it takes. */
  private readonly crowded: Waiter[] = [];
  private term: Term | undefined;
  private choosing: Promise<void> | undefined;
  private closed = false;
  /** The first and the last refusal while no server takes changes, in milliseconds since 1970. */
  private readonly refused = { first: 0, last: 0 };

  constructor(
    private readonly servers: readonly [Server, ...Server[]],
    private readonly size: number,
  ) {}

  get load(): Load {
    return { inUse: this.inUse.size, waiting: this.waiters.size };
  }

  /** Calls one of the two, once: with a connection that is to be released, or with the reason why there is none. */
  acquire(resolve: Resolve<PoolConnection>, reject: Reject): void {
    const waiter = { resolve, reject };
    this.waiters.add(waiter);
    this.request(waiter);
  }

  release(connection: PoolConnection): void {
    this.inUse.delete(connection);
    if (this.isBroken(connection)) breakConnection(connection, 'the connection is given up');
    else if (this.open.get(connection) === this.term) connection.release();
    else connection.end();
    const next = this.crowded.shift();
    if (next) this.request(next);
  }

  /** Releases a connection in a state that is not known. */
  discard(connection: PoolConnection): void {
    this.open.delete(connection);
    this.release(connection);
  }

  isBroken(connection: PoolConnection): boolean {
    return !this.open.has(connection);
  }

  /**
   * Applies the failure of a statement: a connection that is of no use is given up, a server that is of no use is left.
   * @returns the error, or one that is not tried again where no server has taken changes for longer than a failover takes.
   */
  applyFailure(connection: PoolConnection, error: Error): Error {
    if (!(error instanceof DatabaseFault)) return error;
    const term = this.open.get(connection);
    if (error.fault === 'moved' || error.fault === 'unknown') this.open.delete(connection);
    if (term && isServerWide(error) && Date.now() - term.began > LOOK_MILLIS) this.leave(term);
    return this.patient(error);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.fail(poolClosed());
    if (this.term?.watched) breakConnection(this.term.watched.connection, 'the pool is closed');
    this.term = undefined;
    await Promise.all([...this.open.keys()].map((connection) => endConnection(connection)));
  }

  private request(waiter: Waiter): void {
    const { term } = this;
    if (!this.waiters.has(waiter)) return;
    if (this.closed) this.fail(poolClosed());
    else if (term)
      term.pool.getConnection((error: Error | null, connection) => {
        if (error) this.refuse(term, waiter, ofConnect(error));
        else void this.take(term, waiter, connection);
      });
    else
      this.choose().then(
        () => {
          this.request(waiter);
        },
        (error: unknown) => {
          this.fail(toDatabaseError(error));
        },
      );
  }

  private async take(term: Term, waiter: Waiter, connection: PoolConnection): Promise<void> {
    try {
      if (!this.open.has(connection)) await this.setUp(term, connection);
    } catch (error) {
      connection.destroy();
      this.refuse(term, waiter, toDatabaseError(error));
      return;
    }
    if (term === this.term && this.waiters.delete(waiter)) {
      this.inUse.add(connection);
      waiter.resolve(connection);
    } else {
      this.release(connection);
      this.request(waiter);
    }
  }

  private async setUp(term: Term, connection: PoolConnection): Promise<void> {
    const lose = (): void => void this.open.delete(connection);
    connection.on('error', lose).on('end', lose);
    await setUp(connection, term.server);
    this.open.set(connection, term);
  }

  /** No connection was made. All waiting requests fail, unless the server only has too many connections. */
  private refuse(term: Term, waiter: Waiter, error: Error): void {
    if (term !== this.term) this.request(waiter);
    else if (isCrowded(error) && this.inUse.size > 0) this.crowded.push(waiter);
    else if (this.servers.length > 1 && !isCrowded(error)) {
      // Statements that are under way on a server that cannot be reached would get no answer either.
      this.leave(term, error.message);
    } else this.fail(error);
  }

  private fail(error: Error): void {
    const failing = [...this.waiters];
    this.waiters.clear();
    this.crowded.length = 0;
    for (const { reject } of failing) reject(this.patient(error));
  }

  /** Begins a term with the first server that takes changes. One choice at a time, for all that wait. */
  private choose(): Promise<void> {
    this.choosing ??= this.begin().finally(() => {
      this.choosing = undefined;
    });
    return this.choosing;
  }

  private async begin(): Promise<void> {
    const watched = this.servers.length > 1 ? await chooseSession(this.servers) : undefined;
    if (watched) this.refused.last = 0;
    const server = watched?.server ?? this.servers[0];
    const pool = createPool({ ...server.options, connectionLimit: this.size, gracefulEnd: true });
    const term = { began: Date.now(), server, pool, watched };
    this.term = term;
    if (this.closed) this.leave(term);
    else if (watched) void this.look(term, watched);
  }

  /** Reads the state of the server of a term again and again: a replica that was a primary answers reads, and a frozen machine nothing. */
  private async look(term: Term, { connection, state }: Session): Promise<void> {
    try {
      for (let looks = 1; term === this.term; looks++) {
        await delay(LOOK_MILLIS, undefined, { ref: false });
        const now = await Promise.race([
          readState(connection),
          delay(HANG_MILLIS, undefined, { ref: false }),
        ]);
        if (!now) throw new Error('it hangs');
        const hasChanged = writabilityOf(now) !== writabilityOf(state);
        if (hasChanged || (looks % RETURN_LOOKS === 0 && (await this.hasEarlierNode(term)))) this.leave(term);
      }
    } catch (error) {
      this.leave(term, String(error));
    }
  }

  /**
   * Returns true if an earlier node of the same Galera cluster is back in step. Among servers that are no cluster an old
   * primary that starts writable by mistake has old data.
   */
  private async hasEarlierNode({ server, watched }: Term): Promise<boolean> {
    const earlier = this.servers.slice(0, this.servers.indexOf(server));
    if (!watched?.state.galera || earlier.length === 0) return false;
    const session = await chooseSession(earlier).catch(() => undefined);
    if (session) await endSession(session);
    return session?.state.galera !== undefined && writabilityOf(session.state) === 'writable';
  }

  /** Ends a term. @param why breaks the connections in use too, whose statements would get no answer. */
  private leave(term: Term, why?: string): void {
    if (term !== this.term) return;
    this.term = undefined;
    if (term.watched) breakConnection(term.watched.connection, 'its server was left');
    for (const [connection, its] of this.open) {
      if (its !== term) continue;
      if (!this.inUse.has(connection)) void endConnection(connection);
      else if (why !== undefined) breakConnection(connection, why);
    }
    this.fail(new DatabaseFault('moved', new Error(why ?? 'the server was left')));
  }

  /** Returns an error that is not tried again where others have waited long enough for a server that takes changes. */
  private patient(error: Error): Error {
    if (!(error instanceof DatabaseFault)) return error;
    if (!isRefused(error) && !(error.cause instanceof NoWriterError)) return error;
    const now = Date.now();
    if (now - this.refused.last > 2 * FAILOVER_MILLIS) this.refused.first = now;
    this.refused.last = now;
    return now - this.refused.first < FAILOVER_MILLIS ? error : new DatabaseFault('moved', error.cause, true);
  }
}
