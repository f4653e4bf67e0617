import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type { ImportPreviewDto } from '../import/mapping/import-preview.dto.js';
import { PROFILE_NAME } from '../import/runs/import-options.js';
import { type JsonObject, isObject, tryParseJson } from '../platform/common/json.js';
import { formatPreview } from './import-output.js';
import { useFile } from './named-file.js';
import { EXIT, formatJson, print, writeTextTo } from './output.js';
import type { SentFile, ServiceClient } from './service-client.js';
import type { Target } from './target.js';

/** A CSV file on this machine with its options, and the file of its profile if the profile is not saved. */
export interface ImportSource {
  file: string;
  query: JsonObject;
  profileFile?: string;
}

/** @param profile name of a saved profile, or path of a profile file. */
export function parseSource(file: string, profile: unknown, options: JsonObject = {}): ImportSource {
  if (typeof profile !== 'string') return { file, query: options };
  if (!/\.json$|[/\\]/i.test(profile)) return { file, query: { ...options, profile } };
  const name = basename(profile).replace(/\.json$/i, '');
  return {
    file,
    query: { ...options, profile: PROFILE_NAME.test(name) ? name : 'file' },
    profileFile: profile,
  };
}

/** Previews an import, prints the preview, and writes the suggested profile to the file `suggest`. */
export async function previewImport(
  service: ServiceClient,
  source: ImportSource,
  { suggest, ...flags }: Pick<Target, 'json'> & { suggest?: string | undefined },
): Promise<void> {
  const shown = await service.requestJson<ImportPreviewDto>(
    'POST',
    'imports/preview',
    await buildUpload(source),
  );
  print(flags, shown, formatPreview(shown));
  const refuses = shown.problems.some((problem) => problem.refuses);
  process.exitCode = refuses ? EXIT.nothingDone : shown.problems.length > 0 ? EXIT.someFailed : EXIT.done;
  if (suggest === undefined) return;
  if (!shown.suggested)
    throw new Error('No profile can be suggested, because no column of the file identifies the users.');
  await writeTextTo(Readable.from([formatJson(shown.suggested)]), suggest);
}

const openFile = (file: string): Readable => (file === '-' ? process.stdin : createReadStream(file));

/**
 * Creates the request body: the CSV file, or a form with this file and a profile that is not saved.
 * @throws Error if the profile is unreadable or not a JSON object.
 */
export async function buildUpload({ file, query, profileFile }: ImportSource) {
  const name = file === '-' ? 'stdin.csv' : basename(file);
  if (profileFile === undefined)
    return { query, file: { type: 'text/csv', name, bytes: openFile(file) } satisfies SentFile };
  const profile = JSON.stringify(await readProfile(profileFile));
  const boundary = randomUUID();
  async function* buildParts(): AsyncGenerator<string | Buffer> {
    yield `--${boundary}\r\nContent-Disposition: form-data; name="profile"\r\n\r\n${profile}\r\n`;
    const percentEncode = (sign: string) => `%${sign.charCodeAt(0).toString(16)}`;
    const fileName = encodeURIComponent(name).replace(/['()*]/g, percentEncode);
    yield `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename*=UTF-8''${fileName}\r\n\r\n`;
    for await (const chunk of openFile(file) as AsyncIterable<Buffer>) yield chunk;
    yield `\r\n--${boundary}--\r\n`;
  }
  const type = `multipart/form-data; boundary=${boundary}`;
  return { query, file: { type, name, bytes: Readable.from(buildParts()) } satisfies SentFile };
}

/** Reads a profile in the format of `PUT /import_profiles/{name}`. @throws Error if it is not a JSON object. */
export async function readProfile(path: string): Promise<JsonObject> {
  const document = tryParseJson(await useFile(path, () => readFile(path, 'utf8')));
  if (document === undefined) throw new Error(`The profile ${path} is not JSON.`);
  if (!isObject(document)) throw new Error(`The profile ${path} is not a JSON object.`);
  return document;
}
