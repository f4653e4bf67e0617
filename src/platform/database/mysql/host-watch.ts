import type { Server } from '../engine/connection-options.js';
import { type Session, askState, breakSession, endSession, openSession, openedAs } from './session.js';
import { writabilityOf } from './server-state.js';
import type { Writability } from '../engine/sql.js';

/** How often the server in use is asked whether it still takes changes. */
const LOOK_MILLIS = 1000;
/** A server that says nothing for so long hangs: no statement on it will end soon. */
const HANG_MILLIS = 5000;
/** How often the earlier nodes of a Galera cluster are asked whether they are back. */
const RETURN_MILLIS = 30_000;

/** What the watch tells the pool. */
export interface Watched {
  /** The server takes no changes any more, or broke its connection; with `hangs` nothing that it was asked will end. */
  lost: (why: string, hangs: boolean) => void;
  /** An earlier server of the same cluster is back. */
  returned: (server: Server) => void;
}

/**
 * Watches the server in use on a connection of its own, where there is a choice: a replica that was a primary answers
 * reads as if nothing had happened, and a machine that froze answers nothing.
 */
export class HostWatch {
  private session: Session | undefined;
  private timer: NodeJS.Timeout | undefined;
  private returning = 0;

  constructor(
    private readonly servers: readonly Server[],
    private readonly watched: Watched,
  ) {}

  /** How the server was when it was chosen: a donor of a state transfer serves where no other node does. */
  get guardedAs(): Writability | undefined {
    return this.session && openedAs(this.session);
  }

  /** Watches the server of this session, which is the watch's from now on, in place of the one before. */
  guard(session: Session): void {
    this.stop();
    this.session = session;
    this.returning = Date.now() + RETURN_MILLIS;
    session.connection.on('error', (error: Error) => {
      if (session === this.session) this.lose(error.message, false);
    });
    this.later(session);
  }

  stop(): void {
    clearTimeout(this.timer);
    const { session } = this;
    this.session = undefined;
    if (session) void endSession(session);
  }

  private later(session: Session): void {
    this.timer = setTimeout(() => void this.look(session), LOOK_MILLIS).unref();
  }

  private async look(session: Session): Promise<void> {
    const hangs = setTimeout(() => {
      if (session === this.session) this.lose('it hangs', true);
    }, HANG_MILLIS).unref();
    try {
      const now = writabilityOf(await askState(session.connection));
      if (session !== this.session) return;
      if (now !== openedAs(session)) {
        this.lose(`it is ${now}`, false);
        return;
      }
      const earlier = await this.earlier(session);
      if (session !== this.session) {
        if (earlier) void endSession(earlier);
        return;
      }
      if (earlier) {
        this.guard(earlier);
        this.watched.returned(earlier.server);
      } else this.later(session);
    } catch (error) {
      if (session === this.session) this.lose(error instanceof Error ? error.message : String(error), false);
    } finally {
      clearTimeout(hangs);
    }
  }

  private lose(why: string, hangs: boolean): void {
    const { session } = this;
    this.session = undefined;
    clearTimeout(this.timer);
    if (session) breakSession(session, why);
    this.watched.lost(why, hangs);
  }

  /**
   * Now and then, a session with a node of the cluster that `DATABASE_URL` names earlier. Among servers that are no
   * cluster nobody returns by itself: an old primary that starts writable by mistake has old data.
   */
  private async earlier({ server, state }: Session): Promise<Session | undefined> {
    if (!state.galera || Date.now() < this.returning) return undefined;
    this.returning = Date.now() + RETURN_MILLIS;
    for (const candidate of this.servers.slice(0, this.servers.indexOf(server))) {
      const session = await openSession(candidate).catch(() => undefined);
      if (session && openedAs(session) === 'writable' && session.state.galera) return session;
      if (session) void endSession(session);
    }
    return undefined;
  }
}
