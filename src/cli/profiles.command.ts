import { Command } from 'commander';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import type { ImportProfilePageDto } from '../import/import-profiles.controller.js';
import { PROFILE_NAME } from '../import/runs/import-options.js';
import { messageOf } from '../platform/common/errors.js';
import { PageQuery } from '../platform/http/page.js';
import type { Application } from './application.js';
import { parseSource, previewImport, readProfile } from './import-preview.js';
import { assertReadable } from './named-file.js';
import { formatJson, formatMinute, print, printPage, toTable, writeTextTo } from './output.js';
import { ServiceError, type ServiceClient } from './service-client.js';
import { type Target, createCommand, createWriteCommand, toQuery } from './target.js';

const HELP = `
Exit codes of check: 0 no problems, 1 problems of rows, 2 an import would reject the file.
Exit codes of the other commands: 0 done, 2 nothing done (invalid usage, unknown profile, invalid profile, no database or service).`;

type Profiles = ImportProfilePageDto['Results'];

export const createProfilesCommand = (application: Application) =>
  new Command('profiles')
    .description('list, show, edit and check import profiles')
    .addHelpText('afterAll', HELP)
    .addCommand(
      createCommand('list', 'list saved and built-in profiles')
        .option('--limit <number>', 'number of profiles, at most 100', '25')
        .option('--offset <number>', 'number of profiles to skip', '0')
        .action((flags: Target, self: Command) =>
          printPage(application, flags, 'import_profiles', toQuery(PageQuery, flags, self), formatProfiles),
        ),
    )
    .addCommand(
      createCommand('show', 'print a profile as JSON')
        .argument('<name>', '', parseName)
        .option('--out <file>', 'write to a file instead of standard output')
        .action((name: string, { out, ...flags }: Target & { out?: string }) =>
          application.runWithClient(flags, async (service) => {
            const { text } = await getProfile(service, name);
            await writeTextTo(Readable.from([text]), out);
          }),
        ),
    )
    .addCommand(
      createWriteCommand('edit', 'edit a profile in the editor $VISUAL or $EDITOR, or create it')
        .argument('<name>', '', parseName)
        .option('--file <file>', 'save this JSON file instead of opening an editor')
        .action((name: string, { file, ...flags }: Target & { file?: string }) =>
          application.runWithClient(flags, (service) => editProfile(service, name, flags, file)),
        ),
    )
    .addCommand(
      createCommand('check', 'show how a CSV file would be read with a profile, and its problems')
        .argument('<file>')
        .option('--profile <name>', 'name of a profile, or a JSON file with a profile')
        .action(async (file: string, { profile, ...flags }: Target & { profile?: string }) => {
          if (file !== '-') await assertReadable(file);
          const source = parseSource(file, profile);
          await application.runWithClient(flags, (service) => previewImport(service, source, flags));
        }),
    );

function formatProfiles(profiles: Profiles): string {
  const rows = profiles.map(({ name, updated, profile: { dataset = 'default', pattern = '' } }) => {
    return [name, updated === null ? 'built-in' : formatMinute(updated), dataset, pattern];
  });
  return toTable([['NAME', 'SAVED (UTC)', 'DATA SET', 'PATTERN'], ...rows]);
}

function parseName(name: string): string {
  if (PROFILE_NAME.test(name)) return name;
  throw new Error(
    `${name.slice(0, 100)} is not a profile name. Use 1 to 64 characters of A-Z a-z 0-9 . _ -.`,
  );
}

/** Requests a profile. `tag` is its ETag. */
async function getProfile(service: ServiceClient, name: string): Promise<{ text: string; tag: string }> {
  const answer = await service.send('GET', `import_profiles/${name}`);
  const { profile } = (await json(answer)) as Profiles[number];
  return { text: formatJson(profile), tag: answer.headers.etag ?? '' };
}

/** Saves a profile from a file or from the editor, unless the profile has changed in the meantime. */
async function editProfile(
  service: ServiceClient,
  name: string,
  flags: Target,
  file?: string,
): Promise<void> {
  const before = await getProfile(service, name).catch((error: unknown) => {
    if (error instanceof ServiceError && error.status === 404) return undefined;
    throw error;
  });
  const headers = before ? { 'if-match': before.tag } : { 'if-none-match': '*' };
  const save = async (path: string): Promise<void> => {
    const body = await readProfile(path);
    const saved = await service.requestJson<object>('PUT', `import_profiles/${name}`, { body, headers });
    print(flags, saved, `Saved the profile ${name}.\n`);
  };
  return file === undefined ? editAndSave(name, before?.text, save) : save(file);
}

/** Opens a profile in the editor and saves it. @throws the error of `save`, after which the edited file is kept. */
async function editAndSave(
  name: string,
  before: string | undefined,
  save: (path: string) => Promise<void>,
): Promise<void> {
  const editor = process.env['VISUAL'] || process.env['EDITOR'];
  if (!editor) throw new Error('Set VISUAL or EDITOR to an editor, or pass the profile with --file.');
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-'));
  const path = join(folder, `${name}.json`);
  await writeFile(path, before ?? formatJson({ columns: {} }), { mode: 0o600 });
  // As in Git, the editor may have options, so a shell runs it.
  const { status } = spawnSync('/bin/sh', ['-c', `${editor} "$1"`, editor, path], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`The editor ${editor} failed. The profile was not saved.`);
  if ((await readFile(path, 'utf8')) === before) process.stderr.write('The profile was not changed.\n');
  else
    await save(path).catch((error: unknown) => {
      const advice = `Your changes are in ${path}. Correct this file, and save it with --file ${path}.`;
      throw new Error(`${messageOf(error)} ${advice}`, { cause: error });
    });
  await rm(folder, { recursive: true });
}
