import type { Server } from '../engine/connection-options.js';
import { DatabaseFault, isCrowded, poolClosed, toDatabaseError } from '../engine/database-fault.js';
import { chooseSession } from './host-choice.js';
import { HostWatch } from './host-watch.js';
import type { Reject, Resolve } from './mysql-statement.js';
import { type Session, breakSession, endSession, openSession, openedAs } from './session.js';
import type { Load } from '../engine/sql.js';

/** Requests wait so long for a server that takes changes; while none has for longer, they fail at once. */
const FAILOVER_MILLIS = 5000;
/** The refusal of a connection that is no older says nothing new of its server. */
const FRESH_MILLIS = 1000;

/** What is under way on a server that was left has this long to end. */
const LINGER_MILLIS = 5000;

export interface Pooled extends Session {
  readonly term: number;
  readonly opened: number;
  broken: boolean;
}

interface Waiter {
  resolve: Resolve<Pooled>;
  reject: Reject;
}

/**
 * The connections of the service, all of them to one server: the first of `DATABASE_URL` that takes changes and is in
 * step. A term is the time with one server. At the first sign that it is over, idle connections are closed, others when
 * they are given back, and the next request looks again which server to take. With one host in `DATABASE_URL` there is
 * no choice, and it is used for reads while it takes no changes.
 */
export class MysqlPool {
  private readonly idle: Pooled[] = [];
  private readonly open = new Set<Pooled>();
  private readonly waiters: Waiter[] = [];
  private readonly watch: HostWatch | undefined;
  private connecting = 0;
  private inUse = 0;
  private term = 1;
  private server: Server | undefined;
  private choosing: Promise<Server> | undefined;
  /** Since when no server takes changes. */
  private refusing: number | undefined;
  private closed = false;
  private lingering: NodeJS.Timeout | undefined;

  constructor(
    private readonly servers: readonly [Server, ...Server[]],
    private readonly size: number,
  ) {
    if (servers.length === 1) [this.server] = servers;
    else {
      this.watch = new HostWatch(servers, {
        lost: (why, hangs) => {
          this.endTerm();
          if (hangs) this.breakOld(why);
        },
        returned: (server) => {
          this.endTerm();
          this.server = server;
        },
      });
    }
  }

  get load(): Load {
    return { inUse: this.inUse, waiting: this.waiters.length };
  }

  /** Calls one of the two, once: with a session that is to be given back, or with the reason why there is none. */
  acquire(resolve: Resolve<Pooled>, reject: Reject): void {
    const session = this.idle.pop();
    if (session) {
      this.inUse++;
      resolve(session);
    } else if (this.closed) reject(poolClosed());
    else {
      this.waiters.push({ resolve, reject });
      this.grow();
    }
  }

  release(session: Pooled): void {
    this.inUse--;
    if (session.broken || session.term !== this.term) this.drop(session);
    else this.hand(session);
  }

  /** As `release`, of a session in a state that is not known. */
  discard(session: Pooled): void {
    session.broken = true;
    this.release(session);
  }

  /**
   * What the failure of a statement means for the pool: a connection that is of no use any more ends the term.
   * @returns the error, or one that is not tried again where no server has taken changes for longer than a failover takes.
   */
  judge(session: Pooled, error: Error): Error {
    if (!(error instanceof DatabaseFault) || (error.fault !== 'moved' && error.fault !== 'unknown'))
      return error;
    session.broken = true;
    const isNews = openedAs(session) === 'writable' || Date.now() - session.opened > FRESH_MILLIS;
    if (session.term === this.term && isNews) this.endTerm();
    return this.patient(error);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.watch?.stop();
    for (const { reject } of this.waiters.splice(0)) reject(poolClosed());
    this.idle.length = 0;
    await Promise.all([...this.open].map(endSession));
  }

  /** From now on only connections that are made anew are used, and with several hosts one of them is chosen anew. */
  private endTerm(): void {
    this.term++;
    if (this.watch) {
      this.server = undefined;
      this.watch.stop();
      clearTimeout(this.lingering);
      this.lingering = setTimeout(() => {
        this.breakOld('its server was left');
      }, LINGER_MILLIS).unref();
    }
    for (const session of this.idle.splice(0)) this.drop(session);
  }

  /** Statements on a server that was left fail now, and may be run again on another one. */
  private breakOld(why: string): void {
    for (const session of this.open) if (session.term !== this.term) breakSession(session, why);
  }

  /** A request is not to wait for a server when others have waited for long enough. */
  private patient(error: Error): Error {
    if (!(error instanceof DatabaseFault) || error.fault !== 'moved' || this.refusing === undefined)
      return error;
    return Date.now() - this.refusing < FAILOVER_MILLIS
      ? error
      : new DatabaseFault('moved', error.cause, true);
  }

  private hand(session: Pooled): void {
    const waiter = this.waiters.shift();
    if (!waiter) {
      this.idle.push(session);
      return;
    }
    this.inUse++;
    waiter.resolve(session);
  }

  private drop(session: Pooled): void {
    this.open.delete(session);
    if (session.broken) breakSession(session, 'the connection is given up');
    else void endSession(session);
    this.grow();
  }

  /** Makes a connection for each waiter, as long as there is room. */
  private grow(): void {
    while (this.waiters.length > this.connecting && this.open.size + this.connecting < this.size) {
      this.connecting++;
      this.connect().then(
        (session) => {
          this.connecting--;
          this.open.add(session);
          if (session.term === this.term && !this.closed) this.hand(session);
          else this.drop(session);
        },
        (error: unknown) => {
          this.connecting--;
          this.refuse(toDatabaseError(error));
        },
      );
    }
  }

  /** No connection can be made: nobody waits for one, unless others are in use, which the server may have too many of. */
  private refuse(error: Error): void {
    if (this.inUse > 0 && isCrowded(error)) return;
    for (const { reject } of this.waiters.splice(0)) reject(this.patient(error));
  }

  /** A session with the server of the term; where that server has just gone, with the one that is chosen instead. */
  private async connect(): Promise<Pooled> {
    const { server, term } = this;
    if (!this.watch || !server) return this.opened(server ?? (await this.choose()));
    try {
      return await this.opened(server);
    } catch (error) {
      if (isCrowded(error)) throw error;
      if (term === this.term) this.endTerm();
      // Where no connection can be made, those that are left will hear nothing either.
      if (error instanceof DatabaseFault && error.fault === 'away')
        this.breakOld('no connection can be made');
      return this.opened(this.server ?? (await this.choose()));
    }
  }

  private async opened(server: Server): Promise<Pooled> {
    const { term } = this;
    const session = await openSession(server);
    const now = openedAs(session);
    this.refusing = now === 'writable' ? undefined : (this.refusing ?? Date.now());
    if (this.watch && now !== 'writable' && now !== this.watch.guardedAs) {
      void endSession(session);
      throw new DatabaseFault('moved', new Error(`${server.name} is ${now}`));
    }
    const pooled: Pooled = { ...session, term, opened: Date.now(), broken: false };
    const lose = () => {
      this.lose(pooled);
    };
    session.connection.on('error', lose).on('end', lose);
    return pooled;
  }

  /** One choice at a time, for all that wait. */
  private choose(): Promise<Server> {
    this.choosing ??= chooseSession(this.servers, { open: openSession, end: endSession })
      .then(
        (session) => {
          this.refusing = undefined;
          if (this.closed) void endSession(session);
          else this.watch?.guard(session);
          return (this.server = session.server);
        },
        (error: unknown) => {
          if (error instanceof DatabaseFault && error.fault === 'moved') this.refusing ??= Date.now();
          throw error;
        },
      )
      .finally(() => {
        this.choosing = undefined;
      });
    return this.choosing;
  }

  /** The connection broke: an idle one is gone, one in use fails its statement and is given back. */
  private lose(session: Pooled): void {
    session.broken = true;
    const at = this.idle.indexOf(session);
    if (at === -1) return;
    this.idle.splice(at, 1);
    this.drop(session);
  }
}
