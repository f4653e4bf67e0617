import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { isObject } from '../platform/common/json.js';
import { ImportProfiles } from '../import/mapping/import-profiles.service.js';
import { type Requested, withProfile } from '../import/mapping/requested-options.js';
import { PROFILE_NAME } from '../import/runs/import-options.js';
import type { JsonObject } from '../platform/common/json.js';

/** Whether `--profile` names a file, and not a profile of the service. */
export const isProfileFile = (profile: string): boolean => /\.json$|[/\\]/i.test(profile);

/**
 * An import by a profile in a JSON file, which is as `PUT /import_profiles/{name}` takes it.
 * @throws Error naming the file when it cannot be read or is not JSON; ProblemError `validation_failed`.
 */
export async function byProfileFile(
  path: string,
  asked: JsonObject,
  profiles: ImportProfiles,
): Promise<Requested> {
  const text = await readFile(path, 'utf8');
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw new Error(`The profile ${path} is not JSON.`);
  }
  if (!isObject(document)) throw new Error(`The profile ${path} is not a JSON object.`);
  const name = basename(path).replace(/\.json$/i, '');
  const profile = profiles.unsaved(PROFILE_NAME.test(name) ? name : 'file', document);
  return { profile, options: withProfile(profile, asked) };
}
