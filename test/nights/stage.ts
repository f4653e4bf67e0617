import { TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { settled, upload } from '../support/app/imports.js';
import { databaseOf } from '../support/app/people.js';
import { type Person, people, sheet } from './people.js';

/** What a source sends: its people, or any bytes. */
export type File = readonly Person[] | string | Uint8Array;
/** A file made of the people of the first file, and of the name of the data set. */
export type Source = (all: readonly Person[], dataset: string) => File;
/** Options of an upload, which may depend on the name of the data set. */
export type Options = string | ((dataset: string) => string);

/** A night before the one that a case is about. */
export interface Before {
  file: Source;
  options?: Options;
  /** An operator approves the run that parks, or reverts it once it has completed. */
  then?: 'approved' | 'reverted' | 'left';
}

/** A data set, and the people of its first file. */
export interface Dataset {
  name: string;
  people: readonly Person[];
}

/** Small and large sizes alternate, so that a case with two sizes has one of each. */
export const SIZES: readonly number[] = [8, 50, 19, 400];
export const NIGHTLY = 'missing=block';

/** One service for all cases. Each case has a data set of its own, with users of its own. */
export class Stage {
  private count = 0;
  private constructor(readonly app: TestApp) {}

  static async open(): Promise<Stage> {
    // The fuse of the key would add up what all cases block within an hour.
    return new Stage(await TestApp.start({ FUSE_MIN: '0' }));
  }
  async close(): Promise<void> {
    await this.app.end();
  }

  /** A data set that had no file yet, and the people that its source begins with. */
  dataset(size: number, base: (all: readonly Person[]) => readonly Person[]): Dataset {
    const name = `s${String(++this.count).padStart(4, '0')}`;
    return { name, people: base(people(name, size)) };
  }

  /** Imports a file of the data set, as the schedule would. A request that is refused at once is a failed run. */
  async import({ name }: Dataset, file: File, options: Options = NIGHTLY): Promise<Json> {
    const more = typeof options === 'string' ? options : options(name);
    const query = /(^|&)dataset=/.test(more) ? more : `dataset=${name}&${more}`;
    const bytes = typeof file === 'string' || file instanceof Uint8Array ? file : sheet(file);
    const { status, body } = await upload(this.app.key, bytes, query);
    if (status === 202) return settled(this.app.key, body.id);
    return { state: 'failed', problems: [{ code: body.code }], guards: [], counts: null };
  }

  /** Imports the first file and those of earlier nights. @throws where one of them does not end as it should. */
  async begin(dataset: Dataset, nights: readonly Before[] = []): Promise<void> {
    this.expect(await this.import(dataset, dataset.people, ''), 'completed');
    for (const { file, options, then } of nights) {
      const run = await this.import(dataset, file(dataset.people, dataset.name), options);
      if (then === 'approved') {
        this.expect(run, 'needs_approval');
        this.expect(await this.decided(run, 'apply'), 'completed');
      } else if (then !== 'left') this.expect(run, 'completed');
      if (then === 'reverted') this.expect(await this.decided(run, 'revert'), 'completed');
    }
  }

  /** Changes with every user that anybody creates or changes. */
  async mark(): Promise<string> {
    const [row] = await databaseOf(this.app).query<{ users: number; versions: number }>(
      'SELECT COUNT(*) AS users, SUM(version) AS versions FROM users',
    );
    return `${row?.users} users, ${row?.versions} versions`;
  }

  private expect(run: Json, state: string): void {
    if (!run.state.startsWith(state)) throw new Error(`an earlier night should be ${state}: ${told(run)}`);
  }

  private async decided(run: Json, decision: 'apply' | 'revert'): Promise<Json> {
    const { body } = await this.app.key.post(`/imports/${run.id}/${decision}`);
    return settled(this.app.key, body.id);
  }
}

/** Returns each case with two of its sizes, so that all sizes occur equally often, or with all of them (ALL_SIZES=true). */
export function withSizes<T extends { name: string; sizes: readonly number[] }>(
  cases: readonly T[],
): [string, number, T][] {
  const uses = new Map<number, number>();
  const usesOf = (size: number): number => uses.get(size) ?? 0;
  return cases.flatMap((one) => {
    const leastUsed = one.sizes.toSorted((a, b) => usesOf(a) - usesOf(b));
    const sizes = process.env['ALL_SIZES'] === 'true' ? one.sizes : leastUsed.slice(0, 2);
    for (const size of sizes) uses.set(size, usesOf(size) + 1);
    return sizes.map((size): [string, number, T] => [one.name, size, one]);
  });
}

/** The guards that are hit, by name, and by name and field where they have one. */
export function hitsOf(run: Json): string[] {
  const hit = (run.guards as { name: string; field?: string | null; hit: boolean }[]).filter(
    (guard) => guard.hit,
  );
  return hit.flatMap(({ name, field }) => (field ? [name, `${name} ${field}`] : [name]));
}

/** How a run was stopped: by guards, as a whole, or row by row. */
export function stopsOf(run: Json): string[] {
  const codes = [...new Set((run.problems as { code: string }[]).map(({ code }) => code))];
  if (run.state === 'needs_approval') return hitsOf(run);
  if (run.state === 'failed') return ['failed', ...codes.map((code) => `failed ${code}`)];
  return run.state === 'completed_with_errors' ? ['rows', ...codes.map((code) => `rows ${code}`)] : [];
}

/** A run in one line, for a failure that tells what happened. */
export const told = (run: Json): string =>
  [run.state, hitsOf(run).join(' + '), run.problems[0]?.code ?? '', JSON.stringify(run.counts)].join(' / ');
