import { api, unwrap, toReasonHeader } from '../../api/client.js';
import { ProblemError } from '../../api/problem.js';
import type { components } from '../../api/generated.js';
import type { Preview } from '../../api/upload.js';
import { IGNORE } from '../../lib/columns.js';

export type Profile = components['schemas']['ImportProfileDto'];

const MAX_PROFILES = 100;
const toParams = (name: string) => ({ params: { path: { name } } });

export async function loadProfiles(signal?: AbortSignal): Promise<Profile[]> {
  const params = { query: { limit: MAX_PROFILES } };
  const call = api.GET('/api/0.3/import_profiles', { params, ...(signal && { signal }) });
  return (await unwrap(call)).data.Results;
}

/** Maps the header of each column in a file to an import column or to `ignore`. */
export type Mapping = Readonly<Record<string, string>>;

/** Returns the mapping of a preview, with suggestions for unknown columns. */
export const toMapping = ({ columns }: Preview): Mapping =>
  Object.fromEntries(
    columns
      .filter(({ use }) => use !== 'template')
      .map(({ source, column, use, suggestion }) => [
        source,
        column ?? (use === 'unknown' ? (suggestion ?? IGNORE) : IGNORE),
      ]),
  );

/** Returns true if a mapping differs from the mapping that the service would use by itself. */
export const hasChanges = (mapping: Mapping, preview: Preview): boolean =>
  preview.columns.some(
    ({ source, column, use }) =>
      use !== 'template' && mapping[source] !== (column ?? (use === 'ignored' ? IGNORE : undefined)),
  );

/** Builds the headers that allow only a change of this version of the profile, or a new profile. */
async function getPreconditionHeaders(
  name: string,
  base: Profile | undefined,
): Promise<Record<string, string>> {
  if (base?.name !== name) return { 'If-None-Match': '*' };
  const { data, headers } = await unwrap(api.GET('/api/0.3/import_profiles/{name}', toParams(name)));
  // The profile in the list may be outdated.
  const isSame = JSON.stringify(data.profile) === JSON.stringify(base.profile);
  return { 'If-Match': isSame ? (headers.get('etag') ?? '') : NO_ETAG };
}

/** An ETag that no profile has, so that the request fails with 412. */
const NO_ETAG = '"changed"';

/** Replaces the problem of a conflict by a text for the page. */
function explainConflict(thrown: unknown, name: string, base: Profile | undefined): unknown {
  if (!(thrown instanceof ProblemError) || ![404, 412].includes(thrown.status)) return thrown;
  const isOwn = base?.name === name;
  return new ProblemError(thrown.status, {
    code: thrown.code,
    title: isOwn ? 'Someone else has changed this profile' : 'A profile with this name already exists',
    detail: isOwn
      ? 'Nothing was saved. Select the profile again to load its current version, then assign the columns again.'
      : 'Nothing was saved. Enter another name, or select the existing profile above to change it.',
    request_id: thrown.requestId,
  });
}

/** Saves a profile with this mapping, based on an existing profile if there is one. @throws ProblemError if it is invalid. */
export async function saveProfile(
  name: string,
  mapping: Mapping,
  base: Profile | undefined,
  more: { dataset: string; delimiter: string; encoding: string },
): Promise<void> {
  const set = Object.fromEntries(Object.entries(more).filter(([, value]) => value !== ''));
  const { default_roles: roles, ...earlier }: Partial<Profile['profile']> = base?.profile ?? {};
  const body = {
    ...earlier,
    ...(roles && { default_roles: roles.join(';') }),
    ...set,
    columns: { ...earlier.columns, ...mapping },
  } as components['schemas']['ProfileInput']; // the generated type requires fields that have a default
  try {
    const headers = await getPreconditionHeaders(name, base);
    await unwrap(api.PUT('/api/0.3/import_profiles/{name}', { ...toParams(name), body, headers }));
  } catch (thrown) {
    throw explainConflict(thrown, name, base);
  }
}

export async function deleteProfile(name: string, reason: string): Promise<void> {
  await unwrap(
    api.DELETE('/api/0.3/import_profiles/{name}', { ...toParams(name), ...toReasonHeader(reason) }),
  );
}
