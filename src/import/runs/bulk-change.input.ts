import { ApiProperty, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn, IsNotEmpty, IsObject, Matches } from 'class-validator';
import type { FieldError } from '../../platform/common/errors.js';
import { type JsonObject, isObject } from '../../platform/common/json.js';
import { isUuid } from '../../platform/common/uuid.js';
import { MAX_REASON } from '../../platform/http/request-headers.js';
import { LimitSize, Required, Rule } from '../../platform/input/field-rules.js';
import { BooleanParam } from '../../platform/input/query-rules.js';
import { readInput } from '../../platform/input/read-input.js';
import { MAX } from '../../users/model/formats.js';
import { Line, Roles } from '../../users/rules/fields.js';
import { applyConfiguredRules } from '../../users/rules/user-rules.js';
import { UserInput } from '../../users/rules/user.input.js';
import type { UserSettings } from '../../users/rules/user-settings.js';
import { UserConditions } from '../../users/search/user.query.js';
import { DATASET, DATASET_RULE, ImportOptions } from './import-options.js';

const MAX_UUIDS = 10_000;
const UUIDS = { type: 'array', items: { type: 'string', format: 'uuid' } } as const;

/** Fields that identify one user, so that they cannot be changed for many users. */
const PERSONAL = ['username', 'email', 'external_id', 'authname', 'password'] as const;

/** Changes to each user of a bulk change, as `readBulkFields` returns them. */
export class BulkFields extends UserInput {
  @Roles({ example: ['Editor'], description: 'Roles to add to the roles of each user.' })
  add_roles?: string[] | null;

  @Roles({ example: [], description: 'Roles to remove. A user without roles gets the default role.' })
  remove_roles?: string[] | null;

  @Line({
    max: 64,
    example: 'hr',
    description: 'New data set of the users. Null or an empty text releases them from their data set.',
  })
  @Matches(DATASET, { message: DATASET_RULE })
  dataset?: string | null;

  @ApiPropertyOptional({ enum: [true], description: 'Deletes the users. Excludes other changes.' })
  @IsNotEmpty()
  @IsIn([true], { message: 'must be true' })
  delete?: true;
}

class BulkFieldsDto extends OmitType(BulkFields, PERSONAL) {}

const isUuidList = (uuids: unknown): boolean =>
  Array.isArray(uuids) && uuids.every((uuid) => typeof uuid === 'string' && isUuid(uuid.toLowerCase()));

const NotEmptyObject = (message: string) =>
  Rule('blank', message, (value) => !isObject(value) || Object.keys(value).length > 0);

/** JSON body of `POST /imports`. */
export class BulkChangeInput {
  @ApiPropertyOptional({ type: UserConditions, description: 'Selects users by at least one condition.' })
  @IsObject()
  @NotEmptyObject('must contain at least one condition')
  where?: JsonObject | null;

  @ApiPropertyOptional({ ...UUIDS, maxItems: MAX_UUIDS, description: 'User ids, instead of `where`.' })
  @LimitSize({ items: MAX_UUIDS, text: MAX.url })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_UUIDS)
  @Rule('invalid_format', 'must contain only UUIDs', isUuidList)
  uuids?: string[] | null;

  @ApiProperty({ type: BulkFieldsDto })
  @Required()
  @LimitSize({ text: MAX.aboutMe, members: 100 })
  @IsNotEmpty()
  @IsObject()
  @NotEmptyObject('must contain at least one field')
  change!: JsonObject;

  @Required()
  @Line({ max: MAX_REASON, nullable: false, example: 'Left at the end of term' })
  @IsNotEmpty()
  reason!: string;

  @BooleanParam({ default: false, description: 'Only create the plan. Call `apply` to carry it out.' })
  dry_run = false;

  @BooleanParam({
    default: false,
    description: 'Allow changes and deletions of Webmasters, and grants of the role.',
  })
  allow_privileged = false;
}

/** A bulk change as stored with its run. `where` and `change` are as the client sent them. */
export interface BulkChange {
  where: JsonObject | null;
  /** The selected users until the run is planned, sorted. Empty for `where`, and after the planning. */
  uuids: readonly string[];
  change: JsonObject;
  reason: string;
}

/**
 * Reads the body of a bulk change.
 * @returns the change with its values as read, its options, and all errors of the body.
 */
export function readBulkChange(body: JsonObject, settings: UserSettings) {
  const { value, errors } = readInput(BulkChangeInput, body);
  const { change, reason, dry_run, allow_privileged } = value;
  const isValid = (name: string): boolean => !errors.some(({ field }) => field === name);
  const where = (isValid('where') && value.where) || null;
  const uuids = (isValid('uuids') && value.uuids) || [];
  const fields = isValid('change') ? readBulkFields(change, settings) : undefined;
  const conditions = where && readInput(UserConditions, where);
  const sent = [value.where, value.uuids].filter((selection) => selection != null);
  const all: FieldError[] = [
    ...errors,
    ...(sent.length === 1 ? [] : [NO_SELECTION]),
    ...addPrefix('where', conditions?.errors ?? []),
    ...(fields?.errors ?? []),
  ];
  const selected = [...new Set(uuids.map((uuid) => uuid.toLowerCase()))].sort();
  const bulk: BulkChange = { where, uuids: selected, change, reason };
  const options = Object.assign(new ImportOptions(), { dataset: '', dry_run, allow_privileged });
  return { bulk, conditions: conditions?.value, fields: fields?.value, options, errors: all };
}

const NO_SELECTION: FieldError = {
  field: 'where',
  code: 'required',
  message: 'or uuids is required, and they cannot be combined',
};

const addPrefix = (prefix: string, errors: readonly FieldError[]): FieldError[] =>
  errors.map((error) => ({ ...error, field: `${prefix}.${error.field}` }));

/** Reads the changes of each user. The fields of the errors begin with `change.`. */
export function readBulkFields(raw: JsonObject, settings: UserSettings) {
  const { value, errors: sent } = readInput(BulkFields, raw);
  const { input, errors: roleErrors } = applyConfiguredRules(value, sent, settings);
  const lists = (['add_roles', 'remove_roles'] as const).filter(
    (name) => input[name] && !sent.some(({ field }) => field.startsWith(name)),
  );
  for (const name of lists) {
    const { input: list, errors } = applyConfiguredRules({ roles: input[name] ?? [] }, sent, settings);
    input[name] = list.roles;
    roleErrors.push(...errors.map((error) => ({ ...error, field: name })));
  }
  const names = Object.keys(raw);
  const personal = PERSONAL.filter((name) => names.includes(name));
  const errors: FieldError[] = [
    ...sent.filter(({ field }) => !personal.some((name) => name === field)),
    ...personal.map((field) => ({ field, code: 'unknown_field', message: NOT_SHARED }) as const),
    ...roleErrors,
  ];
  const isCombined = (name: string, others: readonly string[]) => names.includes(name) && others.length > 0;
  if (isCombined('delete', names.slice(1))) errors.push({ field: 'delete', ...COMBINED });
  if (isCombined('roles', lists)) errors.push({ field: 'roles', ...COMBINED });
  if (lists.length === 2 && input.add_roles?.some((role) => input.remove_roles?.includes(role)))
    errors.push({
      field: 'remove_roles',
      code: 'invalid_value',
      message: 'must not contain a role that is also in add_roles',
    });
  return { value: input, errors: addPrefix('change', errors) };
}

const NOT_SHARED = 'cannot be changed for many users';
const COMBINED = { code: 'invalid_value', message: 'cannot be combined with the other fields' } as const;
