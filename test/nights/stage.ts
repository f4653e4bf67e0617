import type { TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { awaitRun, upload } from '../support/app/imports.js';
import { databaseOf } from '../support/app/people.js';
import { type Person, people, toCsv } from './people.js';

/** Content of a file: people, or any bytes. */
type File = readonly Person[] | string | Uint8Array;
/** Builds a file from the people of the first file and the name of the data set. */
export type Source = (all: readonly Person[], dataset: string) => File;
/** Options of an upload, which can depend on the name of the data set. */
type Options = string | ((dataset: string) => string);

/** A night before the night under test. */
interface Before {
  file: Source;
  /** Decision of an operator about a waiting run: approves the run, or lets it wait. */
  then?: 'approved' | 'left';
}

/** A data set with the people of its first file. */
interface Dataset {
  name: string;
  people: readonly Person[];
}

/** A night under test, with the state before it. */
export interface Case {
  name: string;
  file: Source;
  options: Options;
  /** Number of people in the source. */
  size: number;
  /** Changes the people of the first file. */
  base: (all: readonly Person[]) => readonly Person[];
  before: readonly Before[];
}

export const NIGHTLY = 'missing=block';

/** Creates a case, by default a nightly file of 50 people. */
export const createCase = (name: string, file: Source, more: Partial<Case>): Case => ({
  ...{ name, file, options: NIGHTLY, size: 50, base: (all) => all, before: [] },
  ...more,
});

/** A service that all cases share. Each case has its own data set and users. */
export class Stage {
  private count = 0;

  constructor(private readonly app: TestApp) {}

  /** Returns a new data set, after its first file and the files of earlier nights. */
  async open({ size, base, before }: Pick<Case, 'size' | 'base' | 'before'>): Promise<Dataset> {
    const name = `s${String(++this.count).padStart(4, '0')}`;
    const dataset = { name, people: base(people(name, size)) };
    this.expectState(await this.import(dataset, dataset.people, ''), 'completed');
    for (const { file, then } of before) {
      const run = await this.import(dataset, file(dataset.people, name));
      if (then === 'left') continue;
      this.expectState(run, then === 'approved' ? 'needs_approval' : 'completed');
      if (then === 'approved') this.expectState(await this.approve(run), 'completed');
    }
    return dataset;
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

  /** Returns a text that differs after any user is created or changed. */
  async readMark(): Promise<string> {
    const [row] = await databaseOf(this.app).query<{ users: number; versions: number }>(
      'SELECT COUNT(*) AS users, SUM(version) AS versions FROM users',
    );
    return `${row?.users} users, ${row?.versions} versions`;
  }

  private expectState(run: Json, state: string): void {
    if (run.state !== state) throw new Error(`an earlier night should be ${state}: ${JSON.stringify(run)}`);
  }

  private async approve({ id }: Json): Promise<Json> {
    await this.app.key.post(`/imports/${id}/apply`);
    return awaitRun(this.app.key, id);
  }
}

/** Returns the guards that are hit, by name and also by name and field. */
export const hitsOf = (run: Json): string[] =>
  (run.guards as Json[]).flatMap(({ name, field, hit }) => (hit ? [name, `${name} ${field}`] : []));

/** Returns the reasons that stopped a run: guards, or the failure of the file. */
export const stopsOf = (run: Json): string[] =>
  run.state === 'failed' ? [`failed ${run.problems[0].code}`] : hitsOf(run);
