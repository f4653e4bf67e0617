import { type Pool, type PoolConnection, createPool } from 'mysql2';
import { setTimeout as delay } from 'node:timers/promises';
import type { Server } from '../engine/connection-options.js';
import {
  DatabaseError,
  isConnectionLimit,
  isStatementRefused,
  isServerWide,
  toDatabaseError,
} from '../engine/database-error.js';
import type { ConnectionUsage } from '../engine/sql.js';
import {
  NoWriterError,
  chooseSession,
  type ServerSession,
  endConnection,
  endSession,
  toConnectError,
  readState,
  setUpConnection,
  writeStateOf,
} from './session.js';
import { type Reject, type Resolve, breakConnection } from './mysql-statement.js';

/** Time for which requests wait for a writable server. After this time, requests fail at once. */
const FAILOVER_MILLIS = 5000;
/**
 * Interval of the state checks of the current server. A failed statement makes the pool leave a server only if the pool
 * has used the server for longer than this interval.
 */
const POLL_MILLIS = 1000;
/**
 * Number of state checks after which the pool tries to return to an earlier server of `DATABASE_URL` (only on Galera).
 */
const RETURN_POLLS = 30;
const HANG_MILLIS = 5000;

const createClosedError = () => new DatabaseError('away', new Error('the pool is closed'));

/** The period in which the pool uses one server. */
interface ServerUse {
  readonly began: number;
  readonly server: Server;
  readonly pool: Pool;
  /** The session that checks the state of the server. Undefined if `DATABASE_URL` has only one server. */
  readonly watched: ServerSession | undefined;
}

interface Waiter {
  resolve: Resolve<PoolConnection>;
  reject: Reject;
}

/**
 * A pool of connections to one server: the first server of `DATABASE_URL` that is writable and in sync.
 *
 * If that server fails or its state changes, the pool leaves it, and the next request chooses a server. Connections in
 * use are closed when they are released. If `DATABASE_URL` has only one server, its state is not checked, so a
 * read-only server still serves reads.
 */
export class MysqlPool {
  private readonly serverUses = new Map<PoolConnection, ServerUse>();
  private readonly inUse = new Set<PoolConnection>();
  private readonly waiters = new Set<Waiter>();
  /** Requests that wait until a connection is released, because the server has reached its limit of connections. */
  private readonly waitingForRelease: Waiter[] = [];
  private currentUse: ServerUse | undefined;
  private choosing: Promise<void> | undefined;
  private isClosed = false;
  /** Times of the first and the last request that failed because no server was writable, in milliseconds since 1970. */
  private readonly refusals = { first: 0, last: -Infinity };

  constructor(
    private readonly servers: readonly [Server, ...Server[]],
    private readonly size: number,
  ) {}

  get load(): ConnectionUsage {
    return { inUse: this.inUse.size, waiting: this.waiters.size };
  }

  /** Acquires a connection, which the caller must release. Calls either `resolve` or `reject`, once. */
  acquire(resolve: Resolve<PoolConnection>, reject: Reject): void {
    const waiter = { resolve, reject };
    this.waiters.add(waiter);
    this.requestConnection(waiter);
  }

  release(connection: PoolConnection): void {
    this.inUse.delete(connection);
    if (this.isBroken(connection)) breakConnection(connection, 'the connection is no longer usable');
    else if (this.serverUses.get(connection) === this.currentUse) connection.release();
    else connection.end();
    const next = this.waitingForRelease.shift();
    if (next) this.requestConnection(next);
  }

  /** Releases and closes a connection whose state is unknown. */
  discard(connection: PoolConnection): void {
    this.serverUses.delete(connection);
    this.release(connection);
  }

  isBroken(connection: PoolConnection): boolean {
    return !this.serverUses.has(connection);
  }

  /**
   * Handles the failure of a statement: closes the connection if it is unusable, and switches to another server if the
   * server is unusable.
   * @returns the error to throw. It is marked as final if no server has been writable for a long time.
   */
  recordFailure(connection: PoolConnection, error: Error): Error {
    if (!(error instanceof DatabaseError)) return error;
    const use = this.serverUses.get(connection);
    if (error.fault === 'moved' || error.fault === 'unknown') this.serverUses.delete(connection);
    if (use && isServerWide(error) && performance.now() - use.began > POLL_MILLIS) {
      this.leaveServer(use);
      // The privilege may have been granted since the connection was opened. A new connection shows this.
      if (error.fault === 'denied') return new DatabaseError('moved', error.cause);
    }
    return this.markFinalIfLate(error);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.rejectWaiters(createClosedError());
    if (this.currentUse?.watched) breakConnection(this.currentUse.watched.connection, 'the pool is closed');
    this.currentUse = undefined;
    await Promise.all([...this.serverUses.keys()].map((connection) => endConnection(connection)));
  }

  private requestConnection(waiter: Waiter): void {
    const { currentUse: use } = this;
    if (!this.waiters.has(waiter)) return;
    if (this.isClosed) this.rejectWaiters(createClosedError());
    else if (use)
      use.pool.getConnection((error: Error | null, connection) => {
        if (error) this.retryOrRejectWaiters(use, waiter, toConnectError(error));
        else void this.setUpAndResolve(use, waiter, connection);
      });
    else
      this.chooseServer().then(
        () => {
          this.requestConnection(waiter);
        },
        (error: unknown) => {
          this.rejectWaiters(toDatabaseError(error));
        },
      );
  }

  private async setUpAndResolve(use: ServerUse, waiter: Waiter, connection: PoolConnection): Promise<void> {
    try {
      if (!this.serverUses.has(connection)) await this.setUp(use, connection);
    } catch (error) {
      connection.destroy();
      this.retryOrRejectWaiters(use, waiter, toDatabaseError(error));
      return;
    }
    if (use === this.currentUse && this.waiters.delete(waiter)) {
      this.inUse.add(connection);
      waiter.resolve(connection);
    } else {
      this.release(connection);
      this.requestConnection(waiter);
    }
  }

  private async setUp(use: ServerUse, connection: PoolConnection): Promise<void> {
    const removeServerUse = (): void => void this.serverUses.delete(connection);
    connection.on('error', removeServerUse).on('end', removeServerUse);
    await setUpConnection(connection, use.server);
    this.serverUses.set(connection, use);
  }

  /**
   * Handles a failed connection attempt. If the pool has left the server, the request tries again. At the connection
   * limit, the request waits for a released connection. Otherwise, all waiting requests fail.
   */
  private retryOrRejectWaiters(use: ServerUse, waiter: Waiter, error: Error): void {
    if (use !== this.currentUse) this.requestConnection(waiter);
    else if (isConnectionLimit(error) && this.inUse.size > 0) this.waitingForRelease.push(waiter);
    else if (this.servers.length > 1 && !isConnectionLimit(error)) {
      // A message ends the connections in use, because their statements would never get a response. If the server only
      // refuses access, it still answers these statements, so no message is passed.
      const isDenied = error instanceof DatabaseError && error.fault === 'denied';
      this.leaveServer(use, isDenied ? undefined : error.message);
    } else this.rejectWaiters(error);
  }

  private rejectWaiters(error: Error): void {
    const failing = [...this.waiters];
    this.waiters.clear();
    this.waitingForRelease.length = 0;
    for (const { reject } of failing) reject(this.markFinalIfLate(error));
  }

  /** Chooses the first writable server. Requests that wait at the same time share the result. */
  private chooseServer(): Promise<void> {
    this.choosing ??= this.startServerUse().finally(() => (this.choosing = undefined));
    return this.choosing;
  }

  private async startServerUse(): Promise<void> {
    const watched = this.servers.length > 1 ? await chooseSession(this.servers) : undefined;
    if (watched) this.refusals.last = -Infinity;
    const server = watched?.server ?? this.servers[0];
    const pool = createPool({ ...server.options, connectionLimit: this.size, gracefulEnd: true });
    const use = { began: performance.now(), server, pool, watched };
    this.currentUse = use;
    if (this.isClosed) this.leaveServer(use);
    else if (watched) void this.pollState(use, watched);
  }

  /** Polls the state of the server, and leaves the server if its state changes or it does not answer. */
  private async pollState(use: ServerUse, { connection, state }: ServerSession): Promise<void> {
    try {
      for (let polls = 1; use === this.currentUse; polls++) {
        await delay(POLL_MILLIS, undefined, { ref: false });
        const timeout = delay(HANG_MILLIS, undefined, { ref: false });
        const now = await Promise.race([readState(connection), timeout]);
        if (!now) throw new Error('the server hangs');
        const hasChanged = writeStateOf(now) !== writeStateOf(state);
        const isReturn = !hasChanged && polls % RETURN_POLLS === 0 && (await this.isEarlierNodeReady(use));
        if (hasChanged || isReturn) this.leaveServer(use);
      }
    } catch (error) {
      this.leaveServer(use, String(error));
    }
  }

  /**
   * Returns true if an earlier server of `DATABASE_URL` is in sync again. Returns false without Galera, because an old
   * primary that becomes writable by mistake has outdated data.
   */
  private async isEarlierNodeReady({ server, watched }: ServerUse): Promise<boolean> {
    const earlier = this.servers.slice(0, this.servers.indexOf(server));
    if (!watched?.state.galera || earlier.length === 0) return false;
    const session = await chooseSession(earlier).catch(() => undefined);
    if (session) await endSession(session);
    return session?.state.galera !== undefined && writeStateOf(session.state) === 'writable';
  }

  /**
   * Leaves a server, so that the next request chooses a server again.
   * @param reason if given, connections in use are broken with this message, because their statements would never get
   * a response.
   */
  private leaveServer(use: ServerUse, reason?: string): void {
    if (use !== this.currentUse) return;
    this.currentUse = undefined;
    if (use.watched) breakConnection(use.watched.connection, 'the pool stopped using the server');
    for (const [connection, itsUse] of this.serverUses) {
      if (itsUse !== use) continue;
      if (!this.inUse.has(connection)) void endConnection(connection);
      else if (reason !== undefined) breakConnection(connection, reason);
    }
    this.rejectWaiters(new DatabaseError('moved', new Error(reason ?? 'the pool stopped using the server')));
  }

  /**
   * Returns the error unchanged, or marked as final if no server has been writable for longer than a failover takes.
   */
  private markFinalIfLate(error: Error): Error {
    if (!(error instanceof DatabaseError)) return error;
    if (!isStatementRefused(error) && !(error.cause instanceof NoWriterError)) return error;
    const now = performance.now();
    if (now - this.refusals.last > 2 * FAILOVER_MILLIS) this.refusals.first = now;
    this.refusals.last = now;
    if (now - this.refusals.first < FAILOVER_MILLIS) return error;
    return new DatabaseError('moved', error.cause, true);
  }
}
