import { api, unwrap, toReasonHeader } from '../../api/client.js';
import { ProblemError, handleStatus } from '../../api/problem.js';
import type { components } from '../../api/generated.js';
import { toHref } from '../../lib/url.js';
import type { Draft } from './draft.js';

export type Profile = components['schemas']['ImportProfileDto'];

/** A profile with its version. */
export interface VersionedProfile extends Profile {
  etag: string;
}

const MAX_PROFILES = 100;
const toParams = (name: string) => ({ params: { path: { name } } });

/** Returns the URL of the page of a profile. `/profiles/new` is the page for a new profile. */
export const toProfileHref = (name: string): string =>
  toHref(`/profiles/${name === 'new' ? '%6eew' : encodeURIComponent(name)}`);

export async function loadProfiles(signal: AbortSignal): Promise<Profile[]> {
  const params = { query: { limit: MAX_PROFILES } };
  return (await unwrap(api.GET('/api/0.3/import_profiles', { params, signal }))).data.Results;
}

export async function loadProfile(name: string, signal: AbortSignal): Promise<VersionedProfile> {
  const call = api.GET('/api/0.3/import_profiles/{name}', { ...toParams(name), signal });
  const { data, headers } = await unwrap(call);
  return { ...data, etag: headers.get('etag') ?? '' };
}

/** Returns the name of the profile with the longest pattern that matches a file name, or ''. The schedule uses it. */
export function findProfileFor(fileName: string, profiles: readonly Profile[]): string {
  const getPattern = ({ profile }: Profile): string => profile.pattern ?? '';
  const matching = profiles.filter((each) => matchesPattern(getPattern(each), fileName));
  return matching.toSorted((a, b) => getPattern(b).length - getPattern(a).length)[0]?.name ?? '';
}

/** Compares a file name with a pattern, in which `*` matches any characters and `?` matches one. Ignores case. */
function matchesPattern(pattern: string, name: string): boolean {
  const wanted = Array.from(pattern.toLowerCase());
  const passStars = (at: number): number[] => (wanted[at] === '*' ? [at, ...passStars(at + 1)] : [at]);
  let reached = new Set(passStars(0));
  for (const character of name.toLowerCase()) {
    const fitting = [...reached].filter((at) => ['*', '?', character].includes(wanted[at] ?? ''));
    reached = new Set(fitting.flatMap((at) => passStars(wanted[at] === '*' ? at : at + 1)));
  }
  return reached.has(wanted.length);
}

const NAME_IN_USE = {
  title: 'A profile with this name already exists',
  detail: 'Nothing was saved. Enter another name, or choose the existing profile to change it.',
};
const CHANGED_BY_OTHERS = {
  title: 'Someone else has changed this profile',
  detail: 'Nothing was saved. Compare your version with the saved one, then decide which one to keep.',
};

/**
 * Saves a profile.
 * @param etag version that is replaced. Undefined creates a profile.
 * @throws ProblemError for an invalid profile, a name in use, or a profile that was changed by someone else.
 */
export async function saveProfile(
  name: string,
  draft: Draft,
  etag: string | undefined,
): Promise<VersionedProfile> {
  const body = draft as never; // the generated type requires fields that have a default
  const condition: Record<string, string> =
    etag === undefined ? { 'If-None-Match': '*' } : { 'If-Match': etag };
  const texts = etag === undefined ? NAME_IN_USE : CHANGED_BY_OTHERS;
  const call = api.PUT('/api/0.3/import_profiles/{name}', { ...toParams(name), body, headers: condition });
  const { data, headers } = await unwrap(call).catch(
    handleStatus(412, ({ code, requestId }) => {
      throw new ProblemError(412, { ...texts, code, request_id: requestId });
    }),
  );
  return { ...data, etag: headers.get('etag') ?? '' };
}

export async function deleteProfile(name: string, reason: string): Promise<void> {
  const request = { ...toParams(name), ...toReasonHeader(reason) };
  await unwrap(api.DELETE('/api/0.3/import_profiles/{name}', request));
}
