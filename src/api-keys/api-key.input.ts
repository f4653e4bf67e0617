import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsDefined, IsNotEmpty, IsString, MaxLength } from 'class-validator';
import { parseTime } from '../input/query-rules.js';
import { Clean, Normalise, TextRule, Visible, line } from '../input/rules.js';
import { isDbTime, now } from '../common/time.js';

/** A new key, from the API and from the command line. */
export class ApiKeyInput {
  @ApiProperty({ example: 'HR connector', maxLength: 255, description: 'What it is for.' })
  @Normalise(line)
  @IsDefined()
  @IsNotEmpty()
  @IsString()
  @MaxLength(255)
  @Clean()
  @Visible()
  name!: string;

  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    example: '2036-01-31T00:00:00.000Z',
    description: 'When it ends; never, where it is missing or null.',
  })
  @Normalise((raw) => (typeof raw === 'string' ? (parseTime(raw.trim()) ?? raw) : raw))
  @IsString()
  @TextRule(
    'invalid_format',
    'must be a time such as 2036-01-31T12:00:00Z or a date such as 2036-01-31',
    isDbTime,
  )
  @TextRule('invalid_value', 'must be in the future', (time) => !isDbTime(time) || time > now())
  expires?: string | null;
}
