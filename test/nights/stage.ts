import { TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { awaitRun, upload } from '../support/app/imports.js';
import { databaseOf } from '../support/app/people.js';
import { type Person, people, toCsv } from './people.js';

/** Content of a file: people, or any bytes. */
export type File = readonly Person[] | string | Uint8Array;
/** Builds a file from the people of the first file and the name of the data set. */
export type Source = (all: readonly Person[], dataset: string) => File;
/** Options of an upload, which can depend on the name of the data set. */
export type Options = string | ((dataset: string) => string);

/** A night before the night under test. */
export interface Before {
  file: Source;
  options?: Options;
  /** Decision of an operator: approves the waiting run, reverts the completed run, or leaves the run as it is. */
  then?: 'approved' | 'reverted' | 'left';
}

/** A data set with the people of its first file. */
export interface Dataset {
  name: string;
  people: readonly Person[];
}

/** Numbers of people in a source. Small and large sizes alternate, so that a case with two sizes has one of each. */
export const SIZES: readonly number[] = [8, 50, 19, 400];
export const NIGHTLY = 'missing=block';

/** A service that all cases share. Each case has its own data set and users. */
export class Stage {
  private count = 0;
  private constructor(readonly app: TestApp) {}

  static async open(): Promise<Stage> {
    // The fuse of the key would add up the users that all cases block within an hour.
    return new Stage(await TestApp.start({ FUSE_MIN: '0', IMPORT_GUARD_CREATED_ROWS: '20' }));
  }
  async close(): Promise<void> {
    await this.app.end();
  }

  /** Returns a new data set with the people of its first file. */
  addDataset(size: number, base: (all: readonly Person[]) => readonly Person[]): Dataset {
    const name = `s${String(++this.count).padStart(4, '0')}`;
    return { name, people: base(people(name, size)) };
  }

  /** Imports a file of the data set. A refused upload is returned as a failed run. */
  async import({ name }: Dataset, file: File, options: Options = NIGHTLY): Promise<Json> {
    const more = typeof options === 'string' ? options : options(name);
    const query = /(^|&)dataset=/.test(more) ? more : `dataset=${name}&${more}`;
    const bytes = typeof file === 'string' || file instanceof Uint8Array ? file : toCsv(file);
    const { status, body } = await upload(this.app.key, bytes, query);
    if (status === 202) return awaitRun(this.app.key, body.id);
    return { state: 'failed', problems: [{ code: body.code }], guards: [], counts: null };
  }

  /** Imports the first file and the files of earlier nights. @throws if one of them does not end as expected. */
  async begin(dataset: Dataset, nights: readonly Before[] = []): Promise<void> {
    this.expectState(await this.import(dataset, dataset.people, ''), 'completed');
    for (const { file, options, then } of nights) {
      const run = await this.import(dataset, file(dataset.people, dataset.name), options);
      if (then === 'approved') {
        this.expectState(run, 'needs_approval');
        this.expectState(await this.decide(run, 'apply'), 'completed');
      } else if (then !== 'left') this.expectState(run, 'completed');
      if (then === 'reverted') this.expectState(await this.decide(run, 'revert'), 'completed');
    }
  }

  /** Returns a text that differs after any user is created or changed. */
  async readMark(): Promise<string> {
    const [row] = await databaseOf(this.app).query<{ users: number; versions: number }>(
      'SELECT COUNT(*) AS users, SUM(version) AS versions FROM users',
    );
    return `${row?.users} users, ${row?.versions} versions`;
  }

  private expectState(run: Json, state: string): void {
    if (!run.state.startsWith(state))
      throw new Error(`an earlier night should be ${state}: ${formatRun(run)}`);
  }

  private async decide(run: Json, decision: 'apply' | 'revert'): Promise<Json> {
    const { body } = await this.app.key.post(`/imports/${run.id}/${decision}`);
    return awaitRun(this.app.key, body.id);
  }
}

/** Returns each case with the two sizes that cost least so far, or with all of its sizes (ALL_SIZES=true). */
export function addSizes<T extends { name: string; sizes: readonly number[] }>(
  cases: readonly T[],
): [string, number, T][] {
  const uses = new Map<number, number>();
  const costOf = (size: number): number => (uses.get(size) ?? 0) * Math.max(100, size);
  return cases.flatMap((one) => {
    const cheapest = one.sizes.toSorted((a, b) => costOf(a) - costOf(b));
    const sizes = process.env['ALL_SIZES'] === 'true' ? one.sizes : cheapest.slice(0, 2);
    for (const size of sizes) uses.set(size, (uses.get(size) ?? 0) + 1);
    return sizes.map((size): [string, number, T] => [one.name, size, one]);
  });
}

/** Returns the hit guards by name, and also by name and field if they have a field. */
export function hitsOf(run: Json): string[] {
  const hit = (run.guards as { name: string; field?: string | null; hit: boolean }[]).filter(
    (guard) => guard.hit,
  );
  return hit.flatMap(({ name, field }) => (field ? [name, `${name} ${field}`] : [name]));
}

/** Returns the reasons that stopped a run: guards, the failure of the file, or failed rows. */
export function stopsOf(run: Json): string[] {
  const codes = [...new Set((run.problems as { code: string }[]).map(({ code }) => code))];
  if (run.state === 'needs_approval') return hitsOf(run);
  if (run.state === 'failed') return ['failed', ...codes.map((code) => `failed ${code}`)];
  return run.state === 'completed_with_errors' ? ['rows', ...codes.map((code) => `rows ${code}`)] : [];
}

/** Formats a run as one line for the message of a failed test. */
export const formatRun = (run: Json): string =>
  [run.state, hitsOf(run).join(' + '), run.problems[0]?.code ?? '', JSON.stringify(run.counts)].join(' / ');
