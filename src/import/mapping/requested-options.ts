import { Injectable } from '@nestjs/common';
import { ProblemError } from '../../platform/common/errors.js';
import type { JsonObject } from '../../platform/common/json.js';
import { readInput } from '../../platform/input/read-input.js';
import { ImportOptions, RequestedOptions } from '../runs/import-options.js';
import { type NamedProfile, optionsOf } from '../runs/import-profile.js';
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
   * @throws ProblemError `invalid_parameter` naming each option that is unknown or has a bad value.
   */
  async of(asked: JsonObject): Promise<Requested> {
    const { value, errors } = readInput(RequestedOptions, asked);
    if (errors.length > 0) {
      const detail = errors.map(({ field, code, message }) =>
        code === 'unknown_field' ? `${field} is not an option of an import` : `${field} ${message}`,
      );
      throw new ProblemError('invalid_parameter', `${detail.join('; ')}.`);
    }
    const profile = value.profile === undefined ? null : await this.profiles.named(value.profile);
    return { profile, options: withProfile(profile, asked) };
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
export function withProfile(profile: NamedProfile | null, asked: JsonObject): ImportOptions {
  const { profile: _, ...others } = asked;
  return readInput(ImportOptions, { ...(profile && optionsOf(profile)), ...others }).value;
}
