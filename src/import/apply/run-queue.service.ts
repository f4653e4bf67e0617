import { Injectable } from '@nestjs/common';
import { type Caller, toDatasetScope } from '../../access/actor.js';
import { assertScope, createScopeError } from '../../access/policy.js';
import { ProblemError, createUnavailableError, createValidationError } from '../../platform/common/errors.js';
import { truncate } from '../../platform/common/text.js';
import { UserSettings } from '../../users/rules/user-settings.js';
import { findFailedFile } from '../file/failed-file.js';
import { ImportFilesRepository } from '../file/import-files.repository.js';
import { FilePrefix, type FileReceiver, FileStore, type StoredFile, storeForm } from '../file/file-store.js';
import type { Request } from 'express';
import { sendContinue } from '../../platform/http/body-reader.js';
import { createParameterError, isMultipart } from '../../platform/http/input.guard.js';
import { fieldsOf } from '../../platform/common/fields.js';
import { RunOptions, RequestedOptions } from '../runs/import-options.js';
import { type ImportRequest, type NamedProfile, optionsOf } from '../runs/import-profile.js';
import { type ImportRun, createRun, hasFile } from '../runs/import-run.js';
import { RunRights, assertPrivilegedAllowed } from '../runs/run-rights.service.js';
import { FINAL } from '../runs/run-states.js';
import { getVisibility } from '../runs/visible-values.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { ImportWorker } from './import-worker.service.js';
import { type JsonObject, isObject, tryParseJson } from '../../platform/common/json.js';
import { readInput } from '../../platform/input/read-input.js';
import { ImportProfiles } from '../mapping/import-profiles.service.js';

/** File and options of an upload request. */
interface Upload extends ImportRequest {
  file: StoredFile;
  /** Options as the client sent them, without the options of the profile. */
  sent: JsonObject;
}

/** Receives files with their options from the API and the schedule, and queues them as runs. */
@Injectable()
export class RunQueue {
  constructor(
    private readonly runs: ImportRunsRepository,
    private readonly files: ImportFilesRepository,
    private readonly store: FileStore,
    private readonly profiles: ImportProfiles,
    private readonly worker: ImportWorker,
    private readonly settings: UserSettings,
    private readonly rights: RunRights,
  ) {}

  /**
   * Stores the file of a request while it is received, and queues it as a run.
   * @throws ProblemError in the cases of `receive` and `submit`, or ReplayedResponseError for a repeated request. In
   * all these cases the stored file is discarded.
   */
  async upload(request: Request, caller: Caller): Promise<ImportRun> {
    const { file, options, profile, ...others } = await this.receive(request, caller, this.store);
    try {
      // With a profile, recognize a repeated request by the options that were sent, because the profile may have
      // changed.
      await caller.repeatable?.setContent([file.name, file.sha256, profile ? others.sent : options]);
      caller.repeatable?.runAfterRollback(() => this.store.discard(file.runId));
      return await this.submit(file, options, caller, profile);
    } catch (error) {
      await this.store.discard(file.runId);
      throw error;
    }
  }

  /**
   * Reads the options of a request and passes its file to `store`.
   * @throws ProblemError `too_large`, `invalid_parameter` for an invalid form, or an error of `readOptions`. In these
   * cases the stored file is discarded.
   */
  async receive(request: Request, caller: Caller, store: FileReceiver): Promise<Upload> {
    if (isMultipart(request)) return this.receiveForm(request, caller, store);
    const sent = { ...request.query };
    const requested = await this.readOptions(sent, caller);
    sendContinue(request);
    const file = await store.store(fileNameOf(request), request);
    return { file, sent, ...(await this.adaptToFile(requested, sent, caller, store.read(file.runId))) };
  }

  /**
   * Reads a request that is a form. Its field `profile` is a name, or an unsaved profile as JSON. Then `profile` in the
   * query may name the unsaved profile. Only previews and commands on this machine may send JSON.
   */
  private async receiveForm(request: Request, caller: Caller, store: FileReceiver): Promise<Upload> {
    const { fields, file } = await storeForm(request, store);
    try {
      const mayBeDocument = request.isLocal || store instanceof FilePrefix;
      const profile = fields.get('profile');
      const document = mayBeDocument && profile?.trimStart().startsWith('{') ? profile : undefined;
      if (document !== undefined) fields.delete('profile');
      const options = mergeOptions(request.query, fields);
      const requested = await this.readOptions(options, caller, document);
      const adapted = await this.adaptToFile(requested, options, caller, store.read(file.runId));
      return { file, sent: document === undefined ? options : { ...options, profile: document }, ...adapted };
    } catch (error) {
      await store.discard(file.runId);
      throw error;
    }
  }

  /**
   * Reads the options of an import and finds its profile. Options that were sent override the options of the profile.
   * @param sent options by name, as the client sent them, including `profile`.
   * @param document unsaved profile, as JSON.
   * @throws ProblemError `invalid_parameter` that lists all unknown and invalid options, `validation_failed` for an
   * invalid profile, or an error of `assertOptionsAllowed`.
   */
  async readOptions(sent: JsonObject, caller: Caller, document?: string): Promise<ImportRequest> {
    const { value, errors } = readInput(RequestedOptions, sent);
    if (errors.length > 0) throw createParameterError(errors, 'is not an import option');
    const { profile: name, corrects } = value;
    const corrected = corrects === undefined ? undefined : await this.findCorrectedRun(corrects, caller);
    let profile = corrected?.profile && (await this.profiles.addSavedWords(corrected.profile));
    if (document !== undefined) profile = this.profiles.parseUnsaved(name ?? 'file', parseDocument(document));
    else if (name !== undefined) profile = await this.profiles.getForImport(name);
    profile ??= null;
    const options = applyProfile(profile, sent, corrected);
    this.assertOptionsAllowed(options, caller);
    return { profile, options };
  }

  /**
   * Adapts the options of a request to its file. A `failed.csv` is read with its own delimiter and encoding and without
   * skipped lines. It corrects the run that it names, and no user counts as missing.
   */
  async adaptToFile(
    requested: ImportRequest,
    sent: JsonObject,
    caller: Caller,
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<ImportRequest> {
    const file = await findFailedFile(bytes);
    if (!file) return requested;
    const isLinked = requested.options.corrects !== undefined;
    const run = isLinked || file.run === undefined ? undefined : await this.runs.find(file.run);
    const found = run ? await this.readOptions({ ...sent, corrects: run.id }, caller) : requested;
    const { encoding: _, ...kept } = found.options;
    const encoding = typeof sent['encoding'] === 'string' ? { encoding: sent['encoding'] } : {};
    const profile = requested.profile ?? found.profile;
    return {
      profile: profile && { ...profile, skip_lines: 0, skip_last_lines: 0 },
      options: { ...kept, ...encoding, missing: 'keep', delimiter: file.delimiter },
    };
  }

  /**
   * Finds the run that another run corrects.
   * @throws ProblemError `validation_failed` for an unknown run, `insufficient_scope` if the caller may not see its rows
   * or may not import its data set, or `wrong_state` if it has not ended or imports no file.
   */
  private async findCorrectedRun(id: string, { actor }: Caller): Promise<ImportRun> {
    const run = await this.runs.find(id.toLowerCase());
    if (!run) {
      const message = `must be an existing import, but there is no import ${id}`;
      throw createValidationError([{ field: 'corrects', code: 'unknown_reference', message }]);
    }
    assertScope(actor, toDatasetScope(run.dataset));
    if (getVisibility(actor, run) === 'none') throw createScopeError('users:read');
    if (FINAL.includes(run.state) && hasFile(run)) return run;
    const detail = `Import ${id} cannot be corrected, because it is ${hasFile(run) ? `${run.state} and has not ended` : 'a revert or a bulk change'}.`;
    throw new ProblemError('wrong_state', detail);
  }

  /**
   * Reads the options for a file in the drop folder. A saved profile that matches the file name overrides the settings
   * of the schedule.
   */
  async readOptionsForFile(fileName: string, settings: JsonObject, caller: Caller): Promise<ImportRequest> {
    const profile = await this.profiles.findForFile(fileName);
    if (!profile) return this.readOptions(settings, caller);
    return { profile, options: applyProfile(null, { ...settings, ...optionsOf(profile) }) };
  }

  /**
   * Creates a run for a stored file and wakes the worker, which starts the run after all earlier runs.
   * @throws ProblemError `unavailable` if a purge has mistaken the file for an interrupted upload and deleted parts of
   * it, or an error of `assertOptionsAllowed`.
   */
  async submit(
    file: StoredFile,
    options: RunOptions,
    caller: Caller,
    profile: NamedProfile | null = null,
  ): Promise<ImportRun> {
    this.assertOptionsAllowed(options, caller);
    const senders = await this.rights.findSenders(caller.actor, file.sha256);
    return this.worker.queueRun(caller, async (tx) => {
      const parts = await this.files.lockParts(tx, file.runId);
      if (parts !== file.parts)
        throw createUnavailableError('The stored file is incomplete. Upload the file again.', 1);
      return { ...createRun(file, options, caller, profile), senders };
    });
  }

  /**
   * Checks the options that depend on the rights of the caller or on the configured roles.
   * @throws ProblemError `insufficient_scope` if the key may not import this data set or may not use
   * `allow_privileged`, `reauthentication_required` for `allow_privileged` in a session that is not confirmed,
   * except in a dry run, `invalid_parameter` if `default_roles` contains an unknown role.
   */
  private assertOptionsAllowed(options: RunOptions, { actor }: Caller): void {
    assertScope(actor, toDatasetScope(options.dataset));
    assertPrivilegedAllowed(options, actor);
    const unknown = options.default_roles?.find((role) => this.settings.roles.find(role) === undefined);
    if (unknown === undefined) return;
    const detail = `default_roles contains the unknown role "${truncate(unknown, 64)}". Use roles that exist in this service.`;
    throw new ProblemError('invalid_parameter', detail);
  }
}

/**
 * Merges the options of a profile with the sent options, which take precedence. Other options get their defaults.
 * @param corrected run that the new run corrects. Its options replace the options of its profile.
 */
function applyProfile(profile: NamedProfile | null, sent: JsonObject, corrected?: ImportRun): RunOptions {
  const { profile: _, ...others } = sent;
  const isSame = corrected !== undefined && profile?.name === corrected.profile?.name;
  return readInput(RunOptions, {
    ...(corrected && inheritOptions(corrected)),
    ...(profile && !isSame && optionsOf(profile)),
    ...others,
    ...(corrected && { missing: 'keep', corrects: corrected.id }),
  }).value;
}

/** Options of a run that do not apply to its correction. */
const OWN_OPTIONS = new Set(['dry_run', 'missing', 'allow_privileged', 'expected_rows', 'adopt_rows']);

const inheritOptions = ({ options }: ImportRun): JsonObject =>
  Object.fromEntries(Object.entries(options).filter(([name]) => !OWN_OPTIONS.has(name)));

function parseDocument(text: string): JsonObject {
  const document = tryParseJson(text);
  if (isObject(document)) return document;
  throw new ProblemError('invalid_parameter', 'profile must be a name or a JSON object.');
}

/**
 * Returns the file name in the header of a request. Headers contain only ASCII, so clients percent-encode other
 * characters as UTF-8.
 */
function fileNameOf({ headers }: Request): string {
  const name = headers['x-file-name'];
  if (typeof name !== 'string') return 'upload.csv';
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

const OPTIONS = fieldsOf(RequestedOptions);

/**
 * Merges the options in the query with the options in the form. Skips empty form fields, because browsers send every
 * field.
 * @throws ProblemError `invalid_parameter` if the query and the form contain the same option.
 */
function mergeOptions(query: Request['query'], fields: ReadonlyMap<string, string>): JsonObject {
  const given = [...fields].filter(([name, value]) => value !== '' || !OPTIONS.has(name));
  const twice = given.map(([name]) => name).find((name) => name in query);
  if (twice !== undefined) {
    throw new ProblemError('invalid_parameter', `Send ${twice} in the query or in the form, not in both.`);
  }
  return { ...query, ...Object.fromEntries(given) };
}
