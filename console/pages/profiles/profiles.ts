import { api, ask, because } from '../../api/client.js';
import { Problem } from '../../api/problem.js';
import type { components } from '../../api/generated.js';
import type { Preview } from '../../api/upload.js';
import { IGNORE } from '../../lib/columns.js';

export type Profile = components['schemas']['ImportProfileDto'];

const MOST = 100;
const at = (name: string) => ({ params: { path: { name } } });

export async function loadProfiles(signal?: AbortSignal): Promise<Profile[]> {
  const params = { query: { limit: MOST } };
  const call = api.GET('/api/0.3/import_profiles', { params, ...(signal && { signal }) });
  return (await ask(call)).data.Results;
}

/** What each column of a file becomes: by its header, a column of ours or `ignore`. */
export type Mapping = Readonly<Record<string, string>>;

/** The mapping that the service has found, with its suggestions for what it does not know. */
export const mappingOf = ({ columns }: Preview): Mapping =>
  Object.fromEntries(
    columns
      .filter(({ use }) => use !== 'template')
      .map(({ source, column, use, suggestion }) => [
        source,
        column ?? (use === 'unknown' ? (suggestion ?? IGNORE) : IGNORE),
      ]),
  );

/** Whether something differs from what the service would do without being told. */
export const isChanged = (mapping: Mapping, preview: Preview): boolean =>
  preview.columns.some(
    ({ source, column, use }) =>
      use !== 'template' && mapping[source] !== (column ?? (use === 'ignored' ? IGNORE : undefined)),
  );

/** The headers by which the service saves on top of this profile, or a new one, and nothing else. */
async function expecting(name: string, base: Profile | undefined): Promise<Record<string, string>> {
  if (base?.name !== name) return { 'If-None-Match': '*' };
  const { data, headers } = await ask(api.GET('/api/0.3/import_profiles/{name}', at(name)));
  // What was read with the list may be older than what is there now.
  const isSame = JSON.stringify(data.profile) === JSON.stringify(base.profile);
  return { 'If-Match': isSame ? (headers.get('etag') ?? '') : NEVER };
}

/** A tag that no profile has. */
const NEVER = '"changed"';

/** What the service says against it, in the words of the page. */
function inWords(thrown: unknown, name: string, base: Profile | undefined): unknown {
  if (!(thrown instanceof Problem) || ![404, 412].includes(thrown.status)) return thrown;
  const isOwn = base?.name === name;
  return new Problem(thrown.status, {
    code: thrown.code,
    title: isOwn ? 'Somebody else has changed this profile' : 'There is a profile of this name',
    detail: isOwn
      ? 'Nothing was saved. Choose the profile again to see how it is now, then say what the columns are.'
      : 'Nothing was saved. Give another name, or choose that profile above to change it.',
    request_id: thrown.requestId,
  });
}

/** Saves how the file is read under a name: on top of an earlier profile, where there is one. @throws Problem of a bad profile. */
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
  } as components['schemas']['ProfileInput']; // for the generator a field with a default is one that must be sent
  try {
    const headers = await expecting(name, base);
    await ask(api.PUT('/api/0.3/import_profiles/{name}', { ...at(name), body, headers }));
  } catch (thrown) {
    throw inWords(thrown, name, base);
  }
}

export async function deleteProfile(name: string, reason: string): Promise<void> {
  await ask(api.DELETE('/api/0.3/import_profiles/{name}', { ...at(name), ...because(reason) }));
}
