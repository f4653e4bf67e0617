import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Normalise } from '../input/normalise.js';
import { parseTime } from '../input/query-rules.js';
import { Clean, MaxCharacters, NotBlank, OfType, Required, Rule, TextRule, line } from '../input/rules.js';
import { isDbTime, now } from '../common/time.js';

/** What somebody says of a new key, at whichever door. */
export class ApiKeyInput {
  @ApiProperty({ example: 'HR connector', maxLength: 255, description: 'What it is for.' })
  @Normalise(line)
  @Required()
  @NotBlank()
  @OfType('string')
  @MaxCharacters(255)
  @Clean()
  name!: string;

  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    example: '2036-01-31T00:00:00.000Z',
    description: 'When it ends; never, where it is missing or null.',
  })
  @Normalise((raw) => (typeof raw === 'string' ? (parseTime(raw.trim()) ?? raw) : raw))
  @OfType('string')
  @TextRule(
    'invalid_format',
    'must be a time such as 2036-01-31T12:00:00Z or a date such as 2036-01-31',
    isDbTime,
  )
  @Rule(
    'invalid_value',
    'must lie ahead',
    (value) => typeof value !== 'string' || !isDbTime(value) || value > now(),
  )
  expires?: string | null;
}
