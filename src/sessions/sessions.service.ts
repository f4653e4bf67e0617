import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/actor.js';
import { assertScope, hasScope } from '../access/policy.js';
import { recordEvents } from '../audit/audit.service.js';
import { createToken, sha256 } from '../platform/common/secrets.js';
import { addSeconds, isUntrusted, now } from '../platform/common/time.js';
import { createUuidAfter } from '../platform/common/uuid.js';
import { Env } from '../platform/config/env.js';
import type { Sql } from '../platform/database/engine/sql.js';
import { TransactionRunner } from '../platform/database/transaction-runner.js';
import type { SessionEntity } from './session.entity.js';
import { SessionRepository, type SessionTimes } from './session.repository.js';

/**
 * Maximum number of sessions per user. It is enough for all devices of a person, and it limits scripts that log in for
 * every request.
 */
const MAX_SESSIONS = 20;

export type Session = Omit<SessionEntity, 'token_hash'>;

/**
 * Stores sessions in the database. All instances therefore agree, and an ended session is rejected from the next
 * request on.
 */
@Injectable()
export class SessionsService {
  private readonly idleSeconds = this.env.SESSION_IDLE_MINUTES * 60;
  private readonly absoluteSeconds = this.env.SESSION_ABSOLUTE_MINUTES * 60;

  constructor(
    private readonly env: Env,
    private readonly repository: SessionRepository,
    private readonly transactions: TransactionRunner,
  ) {}

  /**
   * Starts a session in the transaction of the login, which has locked the user. If the user has too many sessions, the
   * oldest ones end.
   * @returns the cookie value. Only its hash is stored.
   */
  async start(tx: Sql, userUuid: string, caller: Caller): Promise<string> {
    const token = createToken();
    const created = now();
    const session: SessionEntity = {
      id: createUuidAfter(await this.enforceLimit(tx, userUuid, created, caller)),
      token_hash: sha256(token),
      user_uuid: userUuid,
      ...this.computeTimes(created),
      ip: caller.ip,
      confirmed: null,
    };
    await this.repository.insert(tx, session);
    const target = { kind: 'session', id: session.id } as const;
    const changes = [{ field: 'user_uuid', new: userUuid }];
    await recordEvents(tx, caller, [{ action: 'session.created', target, changes }]);
    return token;
  }

  /**
   * Finds the valid session for a cookie value. The session is extended only if half of its idle time has passed, so
   * that most requests do not write.
   * @returns the session and its user, with `renewed` true if the session has just been extended. `confirmed` is the
   * time at which the password was last verified.
   */
  async find(token: string) {
    const hash = sha256(token);
    const fresh = this.computeTimes(now());
    let session = await this.repository.findByToken(hash);
    if (session && (isUntrusted(session.expires, fresh.expires) || isUntrusted(session.confirmed ?? ''))) {
      await this.repository.limitTimes(fresh, session.id);
      session = await this.repository.findByToken(hash);
    }
    const time = fresh.created;
    if (!session || session.expires <= time || session.absolute_expires <= time) return undefined;
    const next = this.computeExpiry(time, session.absolute_expires).expires;
    const renewed = addSeconds(time, this.idleSeconds / 2) > session.expires && next > session.expires;
    if (renewed) await this.repository.renew(session.id, next);
    return { ...session, confirmed: session.confirmed ?? session.created, renewed };
  }

  /** Records that the password of the session was verified. */
  async confirm(id: string, caller: Caller): Promise<void> {
    await this.transactions.run((tx) => this.repository.confirm(tx, id, now()), caller);
  }

  /** Returns true if the session is valid, without extending the session. */
  async isLive(id: string): Promise<boolean> {
    return this.repository.isLive(id, now());
  }

  /** Lists the valid sessions of the user, newest first. Lists the sessions of all users if `userUuid` is undefined. */
  list(userUuid: string | undefined, page: { offset: number; limit: number }) {
    return this.repository.list(now(), userUuid, page);
  }

  /**
   * Ends a session.
   * @param userUuid if given, only a session of this user is ended.
   * @returns false if there is no such session.
   * @throws ProblemError `insufficient_scope` if the session belongs to a Webmaster and the API key lacks the scope
   * `webmasters`.
   */
  async end(id: string, caller: Caller, userUuid?: string): Promise<boolean> {
    return this.transactions.run(async (tx) => {
      const session = await this.repository.lock(tx, id);
      if (!session || (userUuid !== undefined && session.user_uuid !== userUuid)) return false;
      await this.assertMayEnd(tx, session.user_uuid, caller);
      await this.endSessions(tx, [session], caller);
      return true;
    }, caller);
  }

  /** Ends all sessions of a user and records each session in the audit. @throws the errors of `end`. */
  async endAll(userUuid: string, caller: Caller): Promise<void> {
    await this.transactions.run(async (tx) => {
      await this.assertMayEnd(tx, userUuid, caller);
      await this.endSessions(tx, await this.repository.lockByUser(tx, userUuid), caller);
    }, caller);
  }

  /**
   * Ends all sessions of the users, except the session with the id `keptId`. The audit does not record them, because
   * the event of the user change implies that they end.
   */
  async endForUsers(tx: Sql, userUuids: readonly string[], keptId = ''): Promise<void> {
    await this.repository.deleteByUsers(tx, userUuids, keptId);
  }

  async purge(): Promise<void> {
    const fresh = this.computeTimes(now());
    await this.repository.limitTimes(fresh);
    await this.repository.deleteExpired(fresh.created);
  }

  /** Ends the oldest sessions of a user with too many sessions. Returns the id of the newest session, or ''. */
  private async enforceLimit(tx: Sql, userUuid: string, time: string, caller: Caller): Promise<string> {
    const sessions = await this.repository.listByUser(tx, userUuid);
    const live = sessions.filter(({ expires }) => expires > time);
    if (live.length >= MAX_SESSIONS) await this.endSessions(tx, live.slice(0, 1 - MAX_SESSIONS), caller);
    return sessions.at(-1)?.id ?? '';
  }

  private async assertMayEnd(tx: Sql, userUuid: string, { actor }: Caller): Promise<void> {
    if (hasScope(actor, 'webmasters') || !(await this.repository.isWebmaster(tx, userUuid))) return;
    assertScope(actor, 'webmasters');
  }

  private async endSessions(tx: Sql, sessions: readonly Session[], caller: Caller): Promise<void> {
    for (const { id } of sessions) await this.repository.delete(tx, id);
    const events = sessions.map(({ id, user_uuid }) => ({
      action: 'session.ended' as const,
      target: { kind: 'session' as const, id },
      changes: [{ field: 'user_uuid', old: user_uuid }],
    }));
    await recordEvents(tx, caller, events);
  }

  private computeTimes(created: string): SessionTimes {
    return { created, ...this.computeExpiry(created, addSeconds(created, this.absoluteSeconds)) };
  }

  private computeExpiry(from: string, absolute: string): Pick<SessionEntity, 'expires' | 'absolute_expires'> {
    const idle = addSeconds(from, this.idleSeconds);
    return { expires: idle < absolute ? idle : absolute, absolute_expires: absolute };
  }
}
