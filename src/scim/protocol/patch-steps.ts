import type { PatchPath } from './filter-parser.js';
import type { ScimValue } from './json.js';
import type { ResourceDescription } from './resource-description.js';

/** Leniencies towards providers, each counted by its kind in `scim_deviations`. */
export const DEVIATIONS = [
  'boolean_text',
  'operation_case',
  'path_in_value',
  'null_value',
  'remove_with_value',
  'missing_schemas',
  'operations_case',
  'single_value_as_list',
  'text_as_object',
  'unknown_attribute',
  'read_only_attribute',
  'filter_creates_element',
  'unquoted_value',
] as const;
export type Deviation = (typeof DEVIATIONS)[number];

export interface PatchOptions {
  resource: ResourceDescription;
  /** The profile `entra`: a path to an unknown attribute is no error. */
  ignoreUnknown: boolean;
  deviation: (kind: Deviation) => void;
}

/**
 * One change of one path, its value in the types of the schema. A step `remove` has a value only where a list loses
 * the elements equal to it. An operation without a path gives a step for each key.
 */
export interface PatchStep {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: Extract<PatchPath, { kind: 'attribute' }>;
  readonly value?: ScimValue;
}

/**
 * The operations of a PATCH body, or of Bulk `data`, which may be the list alone; pure: the resource is not needed.
 * Groups take the steps of `members` out and give the others to `applySteps`.
 * @throws ProblemError invalid_syntax, invalid_path, invalid_filter, invalid_value, mutability, no_target
 */
export function readPatch(_body: unknown, _options: PatchOptions): PatchStep[] {
  throw new Error('not written yet');
}
