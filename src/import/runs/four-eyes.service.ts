import { Injectable } from '@nestjs/common';
import type { Actor, Caller } from '../../access/actor.js';
import { ApiKeysService } from '../../api-keys/api-keys.service.js';
import { ProblemError } from '../../platform/common/errors.js';
import { Env } from '../../platform/config/env.js';
import type { ImportRun } from './import-run.js';

/**
 * IMPORT_FOUR_EYES: whoever sent a file does not approve it where a guard was hit, with whichever of their credentials: a key
 * belongs to whoever made it. Two keys of the command line have no maker, and are two people.
 */
@Injectable()
export class FourEyes {
  constructor(
    private readonly env: Env,
    private readonly keys: ApiKeysService,
  ) {}

  /** @throws ProblemError `forbidden`. */
  async check({ id, guards, caller: { actor } }: ImportRun, caller: Caller): Promise<void> {
    if (!this.env.IMPORT_FOUR_EYES || !guards.some(({ hit }) => hit)) return;
    const senders = new Set(await this.credentialsOf(actor));
    const approvers = await this.credentialsOf(caller.actor);
    if (!approvers.some((credential) => senders.has(credential))) return;
    const detail = `Import ${id} needs another person's approval: IMPORT_FOUR_EYES is on, and you have sent the file.`;
    throw new ProblemError('forbidden', detail);
  }

  private async credentialsOf({ kind, id }: Actor): Promise<string[]> {
    if (id === null) return []; // the service itself
    return kind === 'key' ? this.keys.withMakers(id) : [id];
  }
}
