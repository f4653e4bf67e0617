/** Codes of single fields inside `validation_failed`. Of several broken rules, the first in this order is reported. */
export const FIELD_CODES = [
  'required',
  'blank',
  'unknown_field',
  'invalid_type',
  'too_long',
  'too_short',
  'invisible_character',
  'invalid_format',
  'invalid_value',
  'too_common',
  'unknown_role',
  'exclusive_roles',
  'unknown_reference',
  'self_reference',
  'cycle',
  'uuid_mismatch',
] as const;
export type FieldCode = (typeof FIELD_CODES)[number];

export interface FieldError {
  field: string;
  code: FieldCode;
  message: string;
}
