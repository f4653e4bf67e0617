import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsDefined,
  IsIn,
  IsNotEmpty,
  IsString,
  MaxLength,
} from 'class-validator';
import { MAX_NETWORK_LENGTH, normalizeNetwork } from '../access/networks.js';
import { MAX_SCOPE_LENGTH, PROFILES, type KeyProfile, SCOPES, type Scope, isScope } from '../access/actor.js';
import { parseTime } from '../platform/input/query-rules.js';
import {
  NoControlCharacters,
  Normalize,
  Rule,
  TextRule,
  NoInvisibleCharacters,
  normalizeLineInput,
} from '../platform/input/field-rules.js';
import { isDbTime, now } from '../platform/common/time.js';

/** Maximum length of the lists of scopes and networks of a key. */
export const MAX_LIST_ITEMS = 32;
export const UNKNOWN_FIELDS = ['refuse', 'ignore'] as const;

const TIME_RULE = 'must be a time such as 2036-01-31T12:00:00Z or a date such as 2036-01-31';
const STRINGS = { each: true, message: 'must be an array of strings' };
const isListOf = (value: unknown, test: (text: string) => boolean): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'string' && test(item));

const NullableList = (schema: { items: object; example: string[]; description: string }) =>
  applyDecorators(
    ApiPropertyOptional({
      type: 'array',
      minItems: 1,
      maxItems: MAX_LIST_ITEMS,
      nullable: true,
      ...schema,
    }),
    ArrayUnique(),
    ArrayMaxSize(MAX_LIST_ITEMS),
    ArrayMinSize(1),
    IsString(STRINGS),
  );

/** Input for a new key, from the API or the command line. */
export class ApiKeyInput {
  @ApiProperty({ example: 'HR connector', maxLength: 255, description: 'Purpose of the key.' })
  @Normalize(normalizeLineInput)
  @IsDefined()
  @IsNotEmpty()
  @IsString()
  @MaxLength(255)
  @NoControlCharacters()
  @NoInvisibleCharacters()
  name!: string;

  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    example: '2036-01-31T00:00:00.000Z',
    description: 'Time when the key expires. Missing or null: the key never expires.',
  })
  @Normalize((raw) => (typeof raw === 'string' ? (parseTime(raw.trim()) ?? raw) : raw))
  @IsString()
  @TextRule('invalid_format', TIME_RULE, isDbTime)
  @TextRule('invalid_value', 'must be in the future', (time) => !isDbTime(time) || time > now())
  expires?: string | null;

  @NullableList({
    items: { type: 'string', maxLength: MAX_SCOPE_LENGTH, pattern: '^[A-Za-z0-9:._-]+$' },
    example: ['users:read', 'users:write'],
    description:
      `Scopes of the key: ${SCOPES.join(', ')}, or \`imports:write:<dataset>\` for the runs of one data set. ` +
      'No scope implies another. Missing or null: all permissions of a Webmaster.',
  })
  @Rule('invalid_value', `must contain only ${SCOPES.join(', ')} or imports:write:<dataset>`, (value) =>
    isListOf(value, isScope),
  )
  scopes?: Scope[] | null;

  @NullableList({
    items: { type: 'string', maxLength: MAX_NETWORK_LENGTH, pattern: '^[0-9A-Fa-f:./]+$' },
    example: ['127.0.0.0/8', '::1/128'],
    description: 'Networks in CIDR notation from which the key may be used. Missing or null: any network.',
  })
  @Normalize((raw) => (Array.isArray(raw) ? raw.map(normalizeIfNetwork) : raw))
  @Rule(
    'invalid_format',
    'must contain only networks such as 10.0.0.0/8 or 2001:db8::/32, without host bits',
    (value) => isListOf(value, (network) => normalizeNetwork(network) === network),
  )
  networks?: string[] | null;

  @ApiPropertyOptional({
    enum: UNKNOWN_FIELDS,
    nullable: true,
    example: 'refuse',
    description:
      'How unknown fields of a user are handled. `refuse`: the request fails. `ignore`: the fields are ignored and listed in ' +
      '`X-Ignored-Fields`, for connectors that send more fields than this service supports.',
  })
  @IsString()
  @IsIn(UNKNOWN_FIELDS)
  unknown_fields?: (typeof UNKNOWN_FIELDS)[number] | null;

  @ApiPropertyOptional({
    enum: PROFILES,
    nullable: true,
    example: 'standard',
    description: 'The identity provider that uses the key for SCIM. Missing or null: `standard`.',
  })
  @IsString()
  @IsIn(PROFILES)
  profile?: KeyProfile | null;
}

const normalizeIfNetwork = (item: unknown): unknown =>
  typeof item === 'string' ? (normalizeNetwork(item) ?? item) : item;
