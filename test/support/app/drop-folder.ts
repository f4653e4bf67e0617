import { mkdirSync, readdirSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestApp } from './app.js';
import type { TestDatabase } from './database.js';
import { csv } from './imports.js';
import { databaseOf, inSeconds } from './people.js';

/** A drop folder with its work folders, which are inside of it unless `work` is elsewhere. */
export class Dropped {
  constructor(
    readonly folder: string,
    readonly work = folder,
  ) {
    for (const path of [folder, ...['processing', 'done', 'failed'].map((part) => join(work, part))])
      mkdirSync(path, { recursive: true });
  }

  names(part = ''): string[] {
    return readdirSync(part === '' ? this.folder : join(this.work, part)).sort();
  }

  /** A complete file of one new user, whose id is the name. */
  person(id: string): void {
    this.file(`${id}.csv`, `${id},${id},${id}@example.org`);
    this.mark(`${id}.csv`);
  }

  file(name: string, ...lines: string[]): void {
    writeFileSync(join(this.folder, name), csv('ExternalId,Username,Email', ...lines));
  }

  mark(name: string): void {
    writeFileSync(join(this.folder, `${name}.done`), '');
  }

  /** Waits until the folder is as expected: checks at the beginning, and after each change of `done` and `failed`. */
  async until(done: () => boolean): Promise<void> {
    await new Promise<void>((resolve) => {
      const look = () => {
        if (!done()) return;
        for (const watcher of watchers) watcher.close();
        resolve();
      };
      const watchers = ['done', 'failed'].map((part) => watch(join(this.work, part), look));
      look();
    });
  }
}

/** As if the last tick had been long ago, so that one was missed. */
export async function missTick(app: TestApp): Promise<void> {
  await databaseOf(app).execute("UPDATE leases SET until = ? WHERE name = 'schedule.tick'", [
    inSeconds(-400 * 24 * 3600),
  ]);
}

/** The first start of a schedule catches up on nothing; afterwards a tick is missed. */
export async function firstStart(database: TestDatabase, settings: Record<string, string>): Promise<void> {
  const app = await TestApp.on(database, settings);
  await app.stop(); // waits for the turn that every start begins with
  const later = await TestApp.on(database);
  await missTick(later);
  await later.stop();
}
