import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { parse } from 'node:querystring';
import { type Caller, toDatasetScope } from '../../access/actor.js';
import { assertScope } from '../../access/policy.js';
import { recordEvents } from '../../audit/audit.service.js';
import type { FieldChange } from '../../platform/common/field-changes.js';
import { ProblemError, createValidationError } from '../../platform/common/errors.js';
import type { JsonObject } from '../../platform/common/json.js';
import { findNearest } from '../../platform/common/nearest.js';
import { sha256 } from '../../platform/common/secrets.js';
import { now } from '../../platform/common/time.js';
import { EntityTags } from '../../platform/http/entity-tags.js';
import { Env } from '../../platform/config/env.js';
import { TransactionRunner } from '../../platform/database/transaction-runner.js';
import { UserSettings } from '../../users/rules/user-settings.js';
import { PROFILE_NAME, matchesPattern } from '../runs/import-options.js';
import type { ImportProfile, NamedProfile } from '../runs/import-profile.js';
import { assertPrivilegedAllowed } from '../runs/run-rights.service.js';
import { ImportProfilesRepository, type SavedProfile } from './import-profiles.repository.js';
import { checkProfile } from './profile-check.js';
import { BUILT_IN_PROFILES } from './built-in-profiles.js';

/** Maximum length of a profile in JSON, in characters. Every run stores a copy of its profile. */
const MAX_DOCUMENT = 64 * 1024;

/** Maximum number of saved profiles. Some requests read all of them. */
const MAX_PROFILES = 200;
const TOO_MANY = `There are already ${MAX_PROFILES} profiles. Delete a profile that is no longer needed.`;

export interface KnownProfile {
  name: string;
  /** Id of a saved profile. Built-in profiles have no id. */
  id?: string;
  profile: ImportProfile;
  /** Time at which the profile was saved, or null for a built-in profile. */
  updated: string | null;
}

/** The data set has the name of the profile. Unknown columns are allowed, because customers add columns to exports. */
const BUILT_IN = Object.entries(BUILT_IN_PROFILES).map(([name, profile]) => ({
  name,
  profile: { ignore_unknown_columns: true, dataset: name, ...profile },
  updated: null,
}));

/** Access to saved and built-in profiles. A saved profile overrides a built-in profile with the same name. */
@Injectable()
export class ImportProfiles {
  constructor(
    private readonly saved: ImportProfilesRepository,
    private readonly settings: UserSettings,
    private readonly transactions: TransactionRunner,
    private readonly tags: EntityTags,
    private readonly env: Env,
  ) {}

  async list(): Promise<KnownProfile[]> {
    const saved = await this.saved.list();
    const names = new Set(saved.map(({ name }) => name));
    const all = [...saved, ...BUILT_IN.filter(({ name }) => !names.has(name))];
    return all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Returns a profile. @throws ProblemError `not_found` for an unknown name. */
  async get(name: string): Promise<KnownProfile> {
    const profile = await this.find(name);
    if (!profile) throw new ProblemError('not_found', `There is no import profile ${name}.`);
    return profile;
  }

  /**
   * Returns the profile that the options of an import select.
   * @throws ProblemError `invalid_parameter` for an unknown name.
   */
  async getForImport(name: string): Promise<NamedProfile> {
    const found = await this.find(name);
    if (found) return toNamed(found);
    const names = (await this.list()).map((each) => each.name);
    const known = findNearest(name, names);
    const hint = known === undefined ? '' : ` Did you mean ${known}?`;
    throw new ProblemError('invalid_parameter', `profile: there is no import profile ${name}.${hint}`);
  }

  /** Adds the current translations of the saved profile to the copy of this profile that a run has used. */
  async addSavedWords(used: NamedProfile): Promise<NamedProfile> {
    const saved = await this.saved.find(used.name);
    return saved && saved.id === used.id
      ? { ...used, values: { ...used.values, ...saved.profile.values } }
      : used;
  }

  /**
   * Finds the saved profile whose pattern matches the name of a file in the drop folder. If several patterns match,
   * selects the longest pattern.
   */
  async findForFile(fileName: string): Promise<NamedProfile | undefined> {
    const patternLengthOf = ({ profile }: KnownProfile): number => profile.pattern?.length ?? 0;
    const [longest] = (await this.saved.list())
      .filter(({ profile: { pattern } }) => pattern !== undefined && matchesPattern(pattern, fileName))
      .toSorted((a, b) => patternLengthOf(b) - patternLengthOf(a));
    return longest && toNamed(longest);
  }

  /**
   * Validates a profile that is not saved, such as a profile in a file on the command line.
   * @throws ProblemError `validation_failed` for an invalid profile.
   */
  parseUnsaved(name: string, document: JsonObject): NamedProfile {
    return { ...this.validate(document), name };
  }

  /**
   * Saves a profile under a name. A profile with a pattern or in `IMPORT_OPTIONS` applies to files of the drop folder,
   * which may contain users of all data sets, so it requires access to all data sets.
   * @throws ProblemError `validation_failed` for an invalid profile, `wrong_state` if there are already MAX_PROFILES
   * profiles, `precondition_failed` if `headers` do not match the existing profile, or `insufficient_scope` for a key
   * that may not import the data set of the new or the replaced profile, or that lacks `webmasters` for a profile with
   * `allow_privileged`, or `reauthentication_required`.
   */
  async put(name: string, document: JsonObject, caller: Caller, headers: TagHeaders): Promise<KnownProfile> {
    const profile = this.validate(document);
    this.assertMayImport(caller, name, profile);
    assertPrivilegedAllowed({ allow_privileged: false, ...profile, dry_run: false }, caller.actor);
    return this.transactions.run(async (tx) => {
      const before = await this.saved.lock(tx, name);
      const replaced = before?.profile ?? findBuiltIn(name)?.profile;
      if (replaced) this.assertMayImport(caller, name, replaced);
      assertPreconditions(replaced && this.etagOf(replaced), headers);
      const saved: SavedProfile = { name, profile, id: before?.id ?? randomUUID(), updated: now() };
      if (before) await this.saved.replace(tx, name, profile);
      else {
        if ((await this.saved.count(tx)) >= MAX_PROFILES) throw new ProblemError('wrong_state', TOO_MANY);
        await this.saved.insert(tx, saved);
      }
      const changes = [{ field: 'name', new: name }, ...changesOf(before?.profile, profile)];
      const target = { kind: 'import_profile', id: saved.id } as const;
      await recordEvents(tx, caller, [{ action: 'import_profile.saved', target, changes }]);
      return { name, profile, updated: saved.updated };
    }, caller);
  }

  /**
   * Deletes a saved profile.
   * @throws ProblemError `not_found` for an unknown name, or `precondition_failed` or `insufficient_scope`, as in `put`.
   */
  async remove(name: string, caller: Caller, headers: TagHeaders): Promise<void> {
    await this.transactions.run(async (tx) => {
      const before = await this.saved.lock(tx, name);
      if (!before) throw new ProblemError('not_found', `There is no saved import profile ${name}.`);
      this.assertMayImport(caller, name, before.profile);
      assertPreconditions(this.etagOf(before.profile), headers);
      await this.saved.delete(tx, name);
      const changes = [{ field: 'name', old: name }];
      const target = { kind: 'import_profile', id: before.id } as const;
      await recordEvents(tx, caller, [{ action: 'import_profile.deleted', target, changes }]);
    }, caller);
  }

  /** Returns the `ETag` of a profile, which depends only on its content and on the epoch. */
  etagOf(profile: ImportProfile): string {
    return `"${sha256(JSON.stringify(profile)).slice(0, TAG_DIGITS)}${this.tags.suffix}"`;
  }

  private assertMayImport(
    { actor }: Caller,
    name: string,
    { dataset = 'default', pattern }: ImportProfile,
  ): void {
    const isScheduled = pattern !== undefined || parse(this.env.IMPORT_OPTIONS)['profile'] === name;
    assertScope(actor, isScheduled ? 'imports:write' : toDatasetScope(dataset));
  }

  private async find(name: string): Promise<KnownProfile | undefined> {
    return PROFILE_NAME.test(name) ? ((await this.saved.find(name)) ?? findBuiltIn(name)) : undefined;
  }

  private validate(document: JsonObject): ImportProfile {
    const { profile, errors } = checkProfile(document, this.settings);
    if (errors.length > 0) throw createValidationError(errors);
    if (JSON.stringify(profile).length > MAX_DOCUMENT) {
      const message = `makes the profile too long: a profile may have at most ${MAX_DOCUMENT} characters`;
      throw createValidationError([{ field: 'columns', code: 'too_long', message }]);
    }
    return profile;
  }
}

const toNamed = ({ profile, name, id }: KnownProfile): NamedProfile => ({
  ...profile,
  name,
  ...(id && { id }),
});

const findBuiltIn = (name: string): KnownProfile | undefined => BUILT_IN.find((each) => each.name === name);

function changesOf(before: ImportProfile | undefined, after: ImportProfile): FieldChange[] {
  const old: Readonly<Record<string, unknown>> = { ...before };
  const next: Readonly<Record<string, unknown>> = { ...after };
  return Object.keys({ ...old, ...next })
    .map((field) => ({ field, old: old[field], new: next[field] }))
    .filter((change) => JSON.stringify(change.old) !== JSON.stringify(change.new));
}

/** Headers that make a change conditional on the version of the profile (RFC 9110, section 13.1). */
export type TagHeaders = Pick<IncomingHttpHeaders, 'if-match' | 'if-none-match'>;

const TAG_DIGITS = 32;

function assertPreconditions(tag: string | undefined, headers: TagHeaders): void {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  const matchesTag = (header: string): boolean =>
    tag !== undefined && header.split(',').some((each) => ['*', tag].includes(each.trim()));
  if (ifMatch !== undefined && !matchesTag(ifMatch)) {
    throw createEtagError(
      tag ? 'The profile has changed since it was read. Read it again.' : 'The profile does not exist.',
    );
  }
  if (ifNoneMatch !== undefined && matchesTag(ifNoneMatch))
    throw createEtagError('The profile already exists.');
}

const createEtagError = (detail: string) => new ProblemError('precondition_failed', detail);
