import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Sql } from '../engine/sql.js';
import type { DbTime } from '../../common/time.js';
import { LeaseRepository } from './lease.repository.js';

const HEARTBEAT_MILLIS = 1000;

/** Work that one instance of several does at a time. */
@Injectable()
export class Leases {
  /** This instance. */
  readonly owner = uuidv7();

  constructor(private readonly leases: LeaseRepository) {}

  /**
   * Works while this instance holds the lease, which a heartbeat moves on however long the work takes. After a crash
   * another instance takes it when `seconds` have passed.
   * @returns false, with nothing done, while another instance holds it.
   */
  async hold(name: string, seconds: number, work: () => Promise<void>): Promise<boolean> {
    if (!(await this.leases.take(name, this.owner, seconds))) return false;
    // A beat that fails is made up for by the next one; work that must not go on without its lease looks at it.
    const beat = () => void this.leases.renew(name, this.owner, seconds).catch(() => undefined);
    const heartbeat = setInterval(beat, HEARTBEAT_MILLIS);
    try {
      await work();
    } finally {
      clearInterval(heartbeat);
      await this.leases.give(name, this.owner);
    }
    return true;
  }

  /** Inside a transaction: moves the lease on, and nobody else takes it before the end. @returns false when it is lost. */
  async keep(name: string, seconds: number, tx: Sql): Promise<boolean> {
    return this.leases.renew(name, this.owner, seconds, tx);
  }

  /** Whether an instance holds the lease: one that works, or one that died before it expired. */
  async isHeld(name: string): Promise<boolean> {
    return this.leases.isHeld(name);
  }

  /** When a moment was last noted (`note`); undefined when it never was. */
  async lastNoted(name: string): Promise<DbTime | undefined> {
    return this.leases.until(name);
  }

  /** Notes a moment for all instances. */
  async note(name: string, time: DbTime): Promise<void> {
    await this.leases.put(name, this.owner, time);
  }
}
