import type { FieldError } from '../../platform/common/errors.js';
import { type JsonObject, isObject } from '../../platform/common/json.js';
import { findNearest } from '../../platform/common/nearest.js';
import { isCleanText } from '../../platform/common/text.js';
import { readInput } from '../../platform/input/read-input.js';
import { UserInput } from '../../users/rules/user.input.js';
import { applyConfiguredRules } from '../../users/rules/user-rules.js';
import type { UserSettings } from '../../users/rules/user-settings.js';
import { COLUMNS, type Column, findColumn, toHeaderKey, isPasswordHeader } from '../file/columns.js';
import { readRow } from '../file/file-row.js';
import { listSupervisedOptions } from '../runs/import-options.js';
import {
  IGNORED,
  type ImportProfile,
  MAX_COLUMNS,
  MAX_TRANSLATIONS,
  MAX_VALUE_LENGTH,
  ProfileFields,
} from '../runs/import-profile.js';
import { SOURCE_FIELDS, toValueKey } from './record-mapper.js';
import { validateLimits } from '../guards/guard-limits.js';
import { TemplateError, sourcesOf, isConstant, isUnique, parseTemplate } from './template.js';

/** Fields with unique values, which a profile cannot set to a constant. */
const UNIQUE_FIELDS = ['external_id', 'username', 'email', 'authname'];

/**
 * Validates a profile as far as this is possible without a file. Returns the profile as it would be saved, and its
 * errors. The field of an error is a path such as `columns.Given Name`.
 */
export function checkProfile(document: JsonObject, settings: UserSettings) {
  const set = Object.fromEntries(Object.entries(document).filter(([, given]) => given !== null));
  const { value, errors } = readInput(ProfileFields, set);
  const sent = Object.entries(value).filter(([name]) => name in set);
  const profile = Object.fromEntries(sent) as Partial<ImportProfile>;
  const invalidFields = new Set(errors.map(({ field }) => field));
  const check = new ProfileCheck(settings);
  const membersOf = (property: 'columns' | 'values' | 'set' | 'guards'): [string, unknown][] => {
    const given: unknown = profile[property];
    return invalidFields.has(property) || !isObject(given) ? [] : Object.entries(given);
  };
  check.checkColumns(membersOf('columns'));
  check.checkTemplates(membersOf('set'));
  check.checkValues(membersOf('values'));
  if (!invalidFields.has('columns')) check.checkExternalId();
  check.checkSourceColumns(profile, invalidFields);
  check.checkOptions(profile);
  check.checkGuards(membersOf('guards'));
  return { profile: { columns: {}, ...profile }, errors: [...errors, ...check.errors] };
}

class ProfileCheck {
  readonly errors: FieldError[] = [];
  /** Maps the comparison key of a source column name to its import column, or to undefined for an ignored column. */
  private readonly sources = new Map<string, Column | undefined>();
  private readonly filled = new Set<Column>();

  constructor(private readonly settings: UserSettings) {}

  checkColumns(members: readonly [string, unknown][]): void {
    for (const { field, name, text: target } of this.listTexts('columns', members)) {
      const key = toHeaderKey(name);
      if (key === '') this.addError(field, 'blank', 'must name a source column');
      else if (this.sources.has(key)) this.addValueError(field, 'is listed twice');
      const column = target.toLowerCase() === IGNORED ? undefined : findColumn(target);
      if (!column && target.toLowerCase() !== IGNORED) {
        this.addValueError(field, `must be an import column or ${IGNORED}${formatHint(target, [IGNORED])}`);
      } else if (column && isPasswordHeader(name)) {
        this.addValueError(field, `may contain passwords, which imports do not read; ignore this column`);
      }
      this.sources.set(key, column);
      if (column) this.filled.add(column);
    }
  }

  checkTemplates(members: readonly [string, unknown][]): void {
    const seen = new Set<Column>();
    for (const { field, name, text } of this.listTexts('set', members)) {
      const column = findColumn(name);
      if (!column) {
        this.addError(field, 'unknown_field', `is not an import column${formatHint(name)}`);
        continue;
      }
      if (seen.has(column)) this.addValueError(field, 'is set twice');
      else if (this.filled.has(column)) this.addValueError(field, 'is already filled by a source column');
      seen.add(column);
      this.checkTemplate(field, column, text);
    }
    for (const column of seen) this.filled.add(column);
  }

  checkValues(members: readonly [string, unknown][]): void {
    this.checkCount('values', members, MAX_COLUMNS);
    for (const [name, words] of members) {
      const field = `values.${name}`;
      if (!this.isValidText(field, name)) continue;
      const known = this.sources.get(toHeaderKey(name)) ?? findColumn(name);
      if (!isObject(words))
        this.addError(field, 'invalid_type', 'must be an object that maps source values to import values');
      else if (!known || !this.filled.has(known))
        this.addError(
          field,
          'unknown_field',
          `must be a source column that the profile reads or an import column that it fills${formatHint(name)}`,
        );
      else this.checkTranslations(field, known, Object.entries(words));
    }
  }

  checkExternalId(): void {
    const [externalId] = COLUMNS;
    if (externalId && !this.filled.has(externalId))
      this.addError(
        'columns',
        'required',
        'must map a source column to ExternalId, unless a template fills ExternalId',
      );
  }

  /** Checks the fields that name one source column. */
  checkSourceColumns(profile: Partial<ImportProfile>, invalidFields: ReadonlySet<string>): void {
    for (const field of SOURCE_FIELDS) {
      const name = profile[field];
      if (name === undefined || invalidFields.has(field)) continue;
      if (toHeaderKey(name) === '') this.addError(field, 'blank', 'must name a source column');
      else if (isPasswordHeader(name)) this.addValueError(field, 'names a column that may contain passwords');
    }
    const manager = findColumn('Manager');
    if (profile.manager_key !== undefined && manager && !this.filled.has(manager))
      this.addValueError('manager_key', 'needs a source column or a template that fills Manager');
  }

  checkOptions(profile: Partial<ImportProfile>): void {
    // If `default_roles` is not a list, `readInput` has already reported an error. Check no roles in this case.
    const sent: unknown = profile.default_roles;
    const roles: readonly unknown[] = Array.isArray(sent) ? sent : [];
    const unknown = roles.filter((role) => typeof role !== 'string' || !this.settings.roles.find(role));
    if (unknown.length > 0)
      this.addError('default_roles', 'unknown_role', 'must contain only roles of this service');
    if (profile.pattern === undefined) return;
    for (const name of listSupervisedOptions(profile))
      this.addValueError(name, 'is not supported by schedules, so it cannot be set together with pattern');
  }

  checkGuards(members: readonly [string, unknown][]): void {
    for (const { field, code, message } of validateLimits(members)) this.addError(field, code, message);
  }

  private checkTemplate(field: string, column: Column, text: string): void {
    try {
      const template = parseTemplate(text);
      for (const name of sourcesOf(template)) {
        if (isPasswordHeader(name)) this.addValueError(field, `reads "${name}", which may contain passwords`);
      }
      if (isUnique(template) && column.field !== 'username')
        this.addValueError(field, 'may not use the function unique, which only Username supports; remove it');
      const last = template.at(-1) ?? [];
      if (!isConstant(last)) return;
      if (UNIQUE_FIELDS.includes(column.field))
        this.addValueError(field, 'must be a template such as {Email}, because the value must be unique');
      else this.checkCell(field, column, last.join(''));
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      this.addError(field, 'invalid_format', error.message);
    }
  }

  private checkTranslations(field: string, column: Column, words: readonly [string, unknown][]): void {
    const seen = new Set<string>();
    for (const { field: path, name: word, text: meaning } of this.listTexts(field, words, MAX_TRANSLATIONS)) {
      if (seen.has(toValueKey(word))) this.addValueError(path, 'is listed twice');
      seen.add(toValueKey(word));
      if (meaning !== '') this.checkCell(path, column, meaning);
    }
  }

  /** Checks the number of members and the texts of an object, and yields the members with valid texts. */
  private *listTexts(property: string, members: readonly [string, unknown][], max = MAX_COLUMNS) {
    this.checkCount(property, members, max);
    for (const [name, text] of members) {
      const field = `${property}.${name}`;
      if (this.isValidText(field, name) && this.isValidText(field, text)) yield { field, name, text };
    }
  }

  /** Checks a value in the profile by the rules for rows. Accepts any ExternalId as a manager. */
  private checkCell(field: string, column: Column, cell: string): void {
    const { raw } = readRow({ line: 0, cells: [cell] }, [column], 'keep');
    const { value, errors } = readInput<UserInput>(UserInput, raw);
    const [fault] = [...errors, ...applyConfiguredRules(value, errors, this.settings).errors];
    if (fault) this.addError(field, fault.code, fault.message);
  }

  private isValidText(field: string, value: unknown): value is string {
    if (typeof value !== 'string') this.addError(field, 'invalid_type', 'must be a string');
    else if (!isCleanText(value))
      this.addError(field, 'invalid_format', 'may not contain control characters or invalid Unicode');
    else if (value.length > 2 * MAX_VALUE_LENGTH)
      this.addError(field, 'too_long', `may have at most ${MAX_VALUE_LENGTH} characters`);
    else return true;
    return false;
  }

  private checkCount(field: string, members: readonly unknown[], max: number): void {
    if (members.length > max) this.addError(field, 'too_long', `may have at most ${max} members`);
  }

  private addValueError(field: string, message: string): void {
    this.addError(field, 'invalid_value', message);
  }

  private addError(field: string, code: FieldError['code'], message: string): void {
    const name = field.length > 100 ? `${field.slice(0, 99)}…` : field;
    if (!this.errors.some((error) => error.field === name)) this.errors.push({ field: name, code, message });
  }
}

/** Returns a hint with the most similar known name, or an empty string if no known name is similar. */
function formatHint(name: string, otherNames: readonly string[] = []): string {
  const known = COLUMNS.flatMap((column) => [column.name, ...column.aliases]);
  const found = findNearest(name, [...known, ...otherNames]);
  return found === undefined ? '' : `; did you mean ${findColumn(found)?.name ?? found}?`;
}
