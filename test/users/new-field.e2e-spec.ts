import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { transform } from '@swc/core';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { API_KEY } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { type TestDatabase, createDatabase } from '../support/app/database.js';
import { Process, ROOT, envOf } from '../support/process/process.js';

/**
 * Adds the text field `pronouns` to a copy of the sources by editing five files, as CONTRIBUTING describes in "Add a field
 * from end to end", and runs the copy.
 */

const MIGRATION = `import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Pronouns1800000000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("ALTER TABLE users ADD COLUMN pronouns varchar(64) NOT NULL DEFAULT ''");
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE users DROP COLUMN pronouns');
  }
}
`;

/** Edits of each file: an existing text, and the text to insert before it. */
const EDITS: Record<string, [before: string, inserted: string][]> = {
  'users/rules/user.input.ts': [
    [
      '  @Line({ max: MAX.phone, example',
      `  @Line({ max: 64, example: 'they/them' })\n  pronouns?: string | null;\n\n`,
    ],
  ],
  'users/model/user.entity.ts': [
    ['  @Column(text(MAX.phone)) phone', `  @Column(text(64)) pronouns = '';\n`],
  ],
  'users/user.view.ts': [
    ['  @Line(MAX.phone,', `  @Line(64, 'they/them') pronouns!: string;\n`],
    ['    phone: hidden', '    pronouns: user.pronouns,\n'],
  ],
  'platform/database/migrations/1800000000000-pronouns.ts': [['', MIGRATION]],
  'platform/database/migrations/migrations.ts': [
    ['\nexport const MIGRATIONS', `import { Pronouns1800000000000 } from './1800000000000-pronouns.js';\n`],
    ['];', '  Pronouns1800000000000,\n'],
  ],
};

let root: string;
let database: TestDatabase;
let service: Process;

beforeAll(async () => {
  root = `${await mkdtemp(join(tmpdir(), 'rollcall-field-'))}/`;
  await cp(`${ROOT}src`, `${root}src`, { recursive: true });
  await cp(`${ROOT}package.json`, `${root}package.json`);
  await symlink(`${ROOT}node_modules`, `${root}node_modules`);
  for (const [file, edits] of Object.entries(EDITS)) await edit(`${root}src/${file}`, edits);
  await build();
  database = await createDatabase();
  service = await Process.startService(
    { ...envOf(database), BOOTSTRAP_API_KEY: API_KEY, MIGRATE_ON_START: 'true' },
    root,
    root,
  );
});

afterAll(async () => {
  await Process.killAll();
  await database.drop();
  await rm(root, { recursive: true });
});

async function edit(path: string, edits: readonly [string, string][]): Promise<void> {
  let source = await readFile(path, 'utf8').catch(() => '');
  for (const [before, inserted] of edits) {
    const at = source.indexOf(before);
    if (at < 0) throw new Error(`${path} does not hold ${before}`);
    source = source.slice(0, at) + inserted + source.slice(at);
  }
  await writeFile(path, source);
}

async function build(): Promise<void> {
  const files = await readdir(`${root}src`, { recursive: true });
  await Promise.all(
    files
      .filter((file) => file.endsWith('.ts'))
      .map(async (file) => {
        const { code } = await transform(await readFile(`${root}src/${file}`, 'utf8'), {
          filename: file,
          jsc: {
            target: 'es2022',
            parser: { syntax: 'typescript', decorators: true },
            transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
            keepClassNames: true,
          },
          module: { type: 'es6' },
        });
        const target = `${root}dist/${file.replace(/ts$/, 'js')}`;
        await mkdir(dirname(target), { recursive: true });
        await writeFile(target, code);
      }),
  );
}

/** Sends a request without checking it against the committed OpenAPI file, which lacks the new field. */
async function send(method: string, path: string, body?: object): Promise<{ status: number; body: Json }> {
  const answer = await fetch(`${service.url}${path}`, {
    method,
    headers: { 'X-API-Key': API_KEY, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: await answer.json() };
}

test('adding a user field needs edits in only five files', () => {
  expect(Object.keys(EDITS)).toHaveLength(5);
});

test('an added user field is stored, validated and audited', async () => {
  const users = '/api/0.3/users';
  const sam = { username: 'sam', email: 'sam@example.org', pronouns: ' they/them ' };
  const { status, body } = await send('POST', users, sam);
  expect(status).toBe(201);
  const user = `${users}/${body.uuid}`;
  expect((await send('GET', user)).body.pronouns).toBe('they/them');
  expect((await send('GET', `${users}/search?fulltext_search=sam`)).body.Results[0].pronouns).toBe(
    'they/them',
  );

  expect((await send('PUT', user, { pronouns: 'she/her' })).body.pronouns).toBe('she/her');
  expect((await send('PUT', user, { phone: '1' })).body.pronouns).toBe('she/her');
  expect((await send('PUT', user, { pronouns: null })).body.pronouns).toBe('');
  const refused = await send('PUT', user, { pronouns: 'x'.repeat(65) });
  expect([refused.status, refused.body.errors]).toEqual([
    422,
    [{ field: 'pronouns', code: 'too_long', message: 'may have at most 64 characters' }],
  ]);

  const audit = await send('GET', `/api/0.3/audit?target=${body.uuid}&field=pronouns`);
  expect(
    audit.body.Results.map(({ changes }: Json) => changes.find(({ field }: Json) => field === 'pronouns')),
  ).toEqual([
    { field: 'pronouns', old: 'she/her', new: '' },
    { field: 'pronouns', old: 'they/them', new: 'she/her' },
    { field: 'pronouns', old: null, new: 'they/them' },
  ]);
});
