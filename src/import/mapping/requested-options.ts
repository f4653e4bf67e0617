import { Injectable } from '@nestjs/common';
import { ProblemError } from '../../platform/common/errors.js';
import { type JsonObject, isObject } from '../../platform/common/json.js';
import { readInput } from '../../platform/input/read-input.js';
import { ImportOptions, RequestedOptions, type NamedProfile, optionsOf } from '../runs/import-options.js';
import { ImportProfiles } from './import-profiles.service.js';

/** How a file is imported. */
export interface Requested {
  options: ImportOptions;
  profile: NamedProfile | null;
}

/** Finds the profile that an import asks for, and puts its options behind those that were asked for by name. */
@Injectable()
export class ImportRequests {
  constructor(private readonly profiles: ImportProfiles) {}

  /**
   * @param asked options by name, as they were sent: texts, `profile` among them.
   * @param isLocal a command of this machine asks, which may send a profile that is not saved: as JSON in `profile_document`.
   * @throws ProblemError `invalid_parameter` naming each option that is unknown or has a bad value; `validation_failed` for an
   * invalid profile.
   */
  async of(asked: JsonObject, isLocal = false): Promise<Requested> {
    const { profile_document: document, ...others } = asked;
    const hasDocument = isLocal && typeof document === 'string';
    const sent = hasDocument ? others : asked;
    const { value, errors } = readInput(RequestedOptions, sent);
    if (errors.length > 0) {
      const detail = errors.map(({ field, code, message }) =>
        code === 'unknown_field' ? `${field} is not an option of an import` : `${field} ${message}`,
      );
      throw new ProblemError('invalid_parameter', `${detail.join('; ')}.`);
    }
    const profile = hasDocument
      ? this.profiles.unsaved(value.profile ?? 'file', readDocument(document))
      : value.profile === undefined
        ? null
        : await this.profiles.named(value.profile);
    return { profile, options: withProfile(profile, sent) };
  }

  /** As `of`, for a file in the drop folder. What a profile says goes before the settings of the schedule. */
  async ofFile(fileName: string, settings: JsonObject): Promise<Requested> {
    const profile = await this.profiles.ofFile(fileName);
    if (!profile) return this.of(settings);
    const { profile: _, ...others } = settings;
    return { profile, options: withProfile(null, { ...others, ...optionsOf(profile) }) };
  }
}

/** The options of an import by a profile; those that were asked for by name go before its own. */
function withProfile(profile: NamedProfile | null, asked: JsonObject): ImportOptions {
  const { profile: _, ...others } = asked;
  return readInput(ImportOptions, { ...(profile && optionsOf(profile)), ...others }).value;
}

function readDocument(text: string): JsonObject {
  try {
    const document: unknown = JSON.parse(text);
    if (isObject(document)) return document;
  } catch {
    // as for a document that is no object
  }
  throw new ProblemError('invalid_parameter', 'profile_document must be a JSON object.');
}
