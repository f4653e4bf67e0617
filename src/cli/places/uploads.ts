import type { INestApplicationContext } from '@nestjs/common';
import type { Caller } from '../../access/actor.js';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import type { JsonObject } from '../../platform/common/json.js';
import { RunQueue } from '../../import/apply/run-queue.service.js';
import { FileHead } from '../../import/file/file-head.js';
import { ImportStore } from '../../import/file/import-store.js';
import type { ImportRunDto } from '../../import/imports.dto.js';
import { ImportPreview, type Preview } from '../../import/mapping/import-preview.js';
import { ImportProfiles } from '../../import/mapping/import-profiles.service.js';
import { ImportRequests, type Requested } from '../../import/mapping/requested-options.js';
import { UsersService } from '../../users/users.service.js';
import { byProfileFile, isProfileFile } from '../profile-file.js';
import type { RemoteService } from './remote-service.js';

/** Where files are imported: into a database, or by a service. `-` is standard input. */
export interface Uploads {
  /** @param asked options by name, as texts. @returns the id of the run. @throws ProblemError or Error with the reason. */
  start(file: string, asked: JsonObject): Promise<string>;
  preview(file: string, asked: JsonObject): Promise<Preview>;
}

const bytesOf = (file: string): Readable => (file === '-' ? process.stdin : createReadStream(file));
const nameOf = (file: string): string => (file === '-' ? 'stdin.csv' : basename(file));

/** Into the database, by the services of the application. */
export class LocalUploads implements Uploads {
  constructor(
    private readonly context: INestApplicationContext,
    private readonly caller: Caller,
  ) {}

  /** @throws Error for a database without users: it is not the one of a service, or the name is mistyped. */
  async start(file: string, asked: JsonObject): Promise<string> {
    const { options, profile } = await this.resolved(asked);
    if (await this.context.get(UsersService).isEmpty())
      throw new Error(
        'This database has no users. Start the service on it once: that makes the first Webmaster.',
      );
    const queue = this.context.get(RunQueue);
    queue.assertOptions(options, this.caller);
    const stored = await this.context.get(ImportStore).store(nameOf(file), bytesOf(file));
    return (await queue.submit(stored, options, this.caller, profile)).id;
  }

  async preview(file: string, asked: JsonObject): Promise<Preview> {
    const requested = await this.resolved(asked);
    const head = new FileHead();
    await head.store(file, bytesOf(file));
    return this.context.get(ImportPreview).of(head, requested, this.caller);
  }

  /** @throws ProblemError for a profile that there is not, or one that is not valid. */
  private resolved(asked: JsonObject): Promise<Requested> {
    const { profile } = asked;
    return typeof profile === 'string' && isProfileFile(profile)
      ? byProfileFile(profile, asked, this.context.get(ImportProfiles))
      : this.context.get(ImportRequests).of(asked);
  }
}

/** By a running service. */
export class RemoteUploads implements Uploads {
  constructor(private readonly service: RemoteService) {}

  async start(file: string, asked: JsonObject): Promise<string> {
    return (await this.send<ImportRunDto>('imports', file, asked)).id;
  }

  preview(file: string, asked: JsonObject): Promise<Preview> {
    return this.send('imports/preview', file, asked);
  }

  /** @throws Error for a profile in a file: a service knows those that are saved. */
  private send<T>(path: string, file: string, query: JsonObject): Promise<T> {
    const { profile } = query;
    if (typeof profile === 'string' && isProfileFile(profile))
      throw new Error(
        `A service reads no file ${profile}: save the profile (PUT /import_profiles/NAME), and name it.`,
      );
    return this.service.json('POST', path, { query, file: { name: nameOf(file), bytes: bytesOf(file) } });
  }
}
