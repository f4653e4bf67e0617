import { Injectable } from '@nestjs/common';
import { randomUUID, createHash } from 'node:crypto';
import { type Caller, datasetScope } from '../../access/actor.js';
import { assertScope } from '../../access/policy.js';
import { AuditService } from '../../audit/audit.service.js';
import type { FieldChange } from '../../platform/common/field-changes.js';
import { ProblemError, validationFailed } from '../../platform/common/errors.js';
import type { JsonObject } from '../../platform/common/json.js';
import { nearest } from '../../platform/common/nearest.js';
import { now } from '../../platform/common/time.js';
import { TransactionRunner } from '../../platform/database/transaction-runner.js';
import { UserSettings } from '../../users/rules/user-settings.js';
import {
  PROFILE_NAME,
  type ImportProfile,
  type NamedProfile,
  matchesPattern,
} from '../runs/import-options.js';
import { ImportProfilesRepository, type SavedProfile } from './import-profiles.repository.js';
import { checkProfile } from './profile-check.js';
import { READY_PROFILES } from './ready-profiles.js';

/** Characters of a profile as JSON: runs keep it. */
const MAX_DOCUMENT = 64 * 1024;

/** Saved profiles: a list, and the search for the one of a file, read all of them. There are not so many sources. */
const MAX_PROFILES = 200;
const FULL = `There are ${MAX_PROFILES} profiles; delete one that no source needs.`;

/** A profile that can be used: one that was saved, or one that ships with the service. */
export interface KnownProfile {
  name: string;
  profile: ImportProfile;
  /** When it was saved; null for one that ships with the service. */
  updated: string | null;
}

const READY: readonly KnownProfile[] = Object.entries(READY_PROFILES).map(([name, profile]) => ({
  name,
  profile,
  updated: null,
}));

/** Profiles of imports: those that ship with the service, and those that were saved, which go before them. */
@Injectable()
export class ImportProfiles {
  constructor(
    private readonly saved: ImportProfilesRepository,
    private readonly settings: UserSettings,
    private readonly transactions: TransactionRunner,
    private readonly audit: AuditService,
  ) {}

  /** All profiles by name. */
  async list(): Promise<KnownProfile[]> {
    const saved = await this.saved.list();
    const names = new Set(saved.map(({ name }) => name));
    return [...saved, ...READY.filter(({ name }) => !names.has(name))].toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    );
  }

  /** @throws ProblemError `not_found`. */
  async get(name: string): Promise<KnownProfile> {
    const profile = await this.find(name);
    if (!profile) throw new ProblemError('not_found', `There is no import profile ${name}.`);
    return profile;
  }

  /** Returns the profile that an import names. @throws ProblemError `invalid_parameter`. */
  async named(name: string): Promise<NamedProfile> {
    const found = await this.find(name);
    if (found) return { ...found.profile, name };
    const known = nearest(
      name,
      (await this.list()).map((each) => each.name),
    );
    const hint = known === undefined ? '' : ` Did you mean ${known}?`;
    throw new ProblemError('invalid_parameter', `profile: there is no import profile ${name}.${hint}`);
  }

  /** The profile whose pattern a file in the drop folder has: of several, that with the longest one. */
  async ofFile(fileName: string): Promise<NamedProfile | undefined> {
    const lengthOf = ({ profile }: KnownProfile): number => profile.pattern?.length ?? 0;
    const [longest] = (await this.saved.list())
      .filter(({ profile: { pattern } }) => pattern !== undefined && matchesPattern(pattern, fileName))
      .toSorted((a, b) => lengthOf(b) - lengthOf(a));
    return longest && { ...longest.profile, name: longest.name };
  }

  /** A profile that is not saved, such as a file of the command line. @throws ProblemError `validation_failed`. */
  unsaved(name: string, document: JsonObject): NamedProfile {
    return { ...this.checked(document), name };
  }

  /**
   * Saves a profile under a name.
   * @throws ProblemError `validation_failed`; `insufficient_scope` for a key that may not import its data set, or that of
   * the profile it replaces, or has not all data sets where the profile has a pattern, because that chooses its files;
   * `wrong_state` for one more than MAX_PROFILES; `precondition_failed` where another one is there than is expected.
   */
  async put(name: string, document: JsonObject, caller: Caller, expected: Expected): Promise<KnownProfile> {
    const profile = this.checked(document);
    assertMay(caller, profile);
    return this.transactions.run(async (tx) => {
      const before = await this.saved.lock(tx, name);
      if (before) assertMay(caller, before.profile);
      assertExpected(before?.profile ?? readyProfile(name)?.profile, expected);
      const saved: SavedProfile = { name, profile, id: before?.id ?? randomUUID(), updated: now() };
      if (before) await this.saved.replace(tx, name, profile);
      else {
        if ((await this.saved.count(tx)) >= MAX_PROFILES) throw new ProblemError('wrong_state', FULL);
        await this.saved.insert(tx, saved);
      }
      const changes = [{ field: 'name', new: name }, ...changesOf(before?.profile, profile)];
      const target = { kind: 'import_profile', id: saved.id } as const;
      await this.audit.record(tx, caller, [{ action: 'import_profile.saved', target, changes }]);
      return { name, profile, updated: saved.updated };
    }, caller);
  }

  /** @returns whether there was one. @throws ProblemError `insufficient_scope`, `precondition_failed` as `put`. */
  async remove(name: string, caller: Caller, expected: Expected): Promise<boolean> {
    return this.transactions.run(async (tx) => {
      const before = await this.saved.lock(tx, name);
      if (!before) return false;
      assertMay(caller, before.profile);
      assertExpected(before.profile, expected);
      await this.saved.delete(tx, name);
      const changes = [{ field: 'name', old: name }];
      const target = { kind: 'import_profile', id: before.id } as const;
      await this.audit.record(tx, caller, [{ action: 'import_profile.deleted', target, changes }]);
      return true;
    }, caller);
  }

  private async find(name: string): Promise<KnownProfile | undefined> {
    return PROFILE_NAME.test(name) ? ((await this.saved.find(name)) ?? readyProfile(name)) : undefined;
  }

  private checked(document: JsonObject): ImportProfile {
    const { profile, errors } = checkProfile(document, this.settings);
    if (errors.length > 0) throw validationFailed(errors);
    if (JSON.stringify(profile).length > MAX_DOCUMENT) {
      const message = `may have at most ${MAX_DOCUMENT} characters, with all that is in the profile`;
      throw validationFailed([{ field: 'columns', code: 'too_long', message }]);
    }
    return profile;
  }
}

function assertMay({ actor }: Caller, { dataset = 'default', pattern }: ImportProfile): void {
  assertScope(actor, pattern === undefined ? datasetScope(dataset) : 'imports:write');
}

/** The profile of that name that ships with the service. */
const readyProfile = (name: string): KnownProfile | undefined => READY.find((ready) => ready.name === name);

/** The members of a profile that differ. */
function changesOf(before: ImportProfile | undefined, after: ImportProfile): FieldChange[] {
  const old = new Map<string, unknown>(Object.entries(before ?? {}));
  const next = new Map<string, unknown>(Object.entries(after));
  const names = [...new Set([...old.keys(), ...next.keys()])];
  return names
    .filter((name) => JSON.stringify(old.get(name)) !== JSON.stringify(next.get(name)))
    .map((field) => ({
      field,
      ...(old.has(field) && { old: old.get(field) }),
      ...(next.has(field) && { new: next.get(field) }),
    }));
}

/** What a client demands of the profile that is there: the headers of its request (RFC 9110, section 13.1). */
export interface Expected {
  ifMatch: string | undefined;
  ifNoneMatch: string | undefined;
}

const DIGITS = 32;

/** Names the content of a profile, whenever it was saved: the `ETag` of its answer. */
export const tagOf = (profile: ImportProfile): string =>
  `"${createHash('sha256').update(JSON.stringify(profile)).digest('hex').slice(0, DIGITS)}"`;

/** @param profile the one that is there. @throws ProblemError `precondition_failed`. */
function assertExpected(profile: ImportProfile | undefined, { ifMatch, ifNoneMatch }: Expected): void {
  const tag = profile && tagOf(profile);
  const names = (header: string): boolean =>
    tag !== undefined && header.split(',').some((each) => ['*', tag].includes(each.trim()));
  if (ifMatch !== undefined && !names(ifMatch)) {
    throw failed(
      profile ? 'The profile has changed since it was read.' : 'The profile is not there any more.',
    );
  }
  if (ifNoneMatch !== undefined && names(ifNoneMatch)) throw failed('There is a profile of this name.');
}

const failed = (detail: string) => new ProblemError('precondition_failed', detail);
