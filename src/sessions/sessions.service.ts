import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Caller } from '../access/actor.js';
import { AuditService } from '../audit/audit.service.js';
import { randomToken, sha256 } from '../common/secret.js';
import { now, secondsFrom } from '../common/time.js';
import { Env } from '../config/env.js';
import type { Sql } from '../database/sql.js';
import { TransactionRunner } from '../database/transaction-runner.js';
import type { SessionEntity } from './session.entity.js';
import { SessionRepository } from './session.repository.js';

/** A session that is good now; `renewed` when this look-up moved its end on. */
export interface LiveSession {
  id: string;
  userUuid: string;
  renewed: boolean;
}

/** Sessions in the database, so that every instance agrees and an end is effective with the next request. */
@Injectable()
export class SessionsService {
  private readonly idleSeconds: number;
  private readonly absoluteSeconds: number;

  constructor(
    env: Env,
    private readonly repository: SessionRepository,
    private readonly transactions: TransactionRunner,
    private readonly audit: AuditService,
  ) {
    this.idleSeconds = env.SESSION_IDLE_MINUTES * 60;
    this.absoluteSeconds = env.SESSION_ABSOLUTE_MINUTES * 60;
  }

  /** A new session with a new id, in the transaction that lets the user in. @returns the cookie's value, kept nowhere. */
  async start(tx: Sql, userUuid: string, caller: Caller): Promise<string> {
    const token = randomToken();
    const created = now();
    const session: SessionEntity = {
      id: uuidv7(),
      token_hash: sha256(token),
      user_uuid: userUuid,
      created,
      ...this.ends(created, secondsFrom(created, this.absoluteSeconds)),
      ip: caller.ip,
    };
    await this.repository.insert(tx, session);
    await this.audit.record(tx, caller, [
      { action: 'session.created', target: { kind: 'session', id: session.id } },
    ]);
    return token;
  }

  /** The session of a cookie. Past half of its idle time its end moves on, so that most requests write nothing. */
  async find(token: string): Promise<LiveSession | undefined> {
    const session = await this.repository.findByToken(sha256(token));
    const time = now();
    if (!session || session.expires <= time || session.absolute_expires <= time) return undefined;
    const next = this.ends(time, session.absolute_expires).expires;
    const renewed = secondsFrom(time, this.idleSeconds / 2) > session.expires && next > session.expires;
    if (renewed) await this.repository.renew(session.id, next);
    return { id: session.id, userUuid: session.user_uuid, renewed };
  }

  async end(id: string, caller: Caller): Promise<void> {
    await this.transactions.run(async (tx) => {
      const ended = await this.repository.delete(tx, id);
      if (ended === 0) return;
      await this.audit.record(tx, caller, [{ action: 'session.ended', target: { kind: 'session', id } }]);
    });
  }

  /** Ends all sessions of the users, but for the one with the id `except`. Part of the change that asks for it. */
  async endOfUsers(tx: Sql, userUuids: readonly string[], except = ''): Promise<void> {
    if (userUuids.length > 0) await this.repository.deleteOfUsers(tx, userUuids, except);
  }

  async purge(): Promise<void> {
    await this.repository.deleteExpired(now());
  }

  private ends(from: string, absolute: string): Pick<SessionEntity, 'expires' | 'absolute_expires'> {
    const idle = secondsFrom(from, this.idleSeconds);
    return { expires: idle < absolute ? idle : absolute, absolute_expires: absolute };
  }
}
