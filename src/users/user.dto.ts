import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { MAX_LIMIT } from '../http/page.js';

const LINKS = {
  facebook: { type: 'string', maxLength: 2048 },
  linkedin: { type: 'string', maxLength: 2048 },
  twitter: { type: 'string', maxLength: 2048 },
} as const;

/** The answer for a user, for the OpenAPI file; `user.view.ts` makes it. */
export class UserDto {
  @ApiProperty({ format: 'uuid', example: '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10' }) uuid!: string;
  @ApiProperty({ maxLength: 254, example: 'jane.doe' }) username!: string;
  @ApiProperty({
    maxLength: 254,
    example: 'jane.doe@example.org',
    description: 'Empty when hidden from the reader.',
  })
  email!: string;
  @ApiProperty({ maxLength: 255, example: 'HR-10042' }) external_id!: string;
  @ApiProperty({
    type: 'array',
    items: { type: 'string', maxLength: 64 },
    maxItems: 32,
    example: ['Organisational user'],
  })
  roles!: string[];
  @ApiProperty({ enum: ['Active', 'Blocked'] }) status!: string;
  @ApiProperty({
    maxLength: 64,
    example: '+44 20 7946 0958',
    description: 'Empty when hidden from the reader.',
  })
  phone!: string;
  @ApiProperty({ maxLength: 64, example: '', description: 'Empty when hidden from the reader.' })
  mobile!: string;
  @ApiProperty({ maxLength: 255, example: 'Jane' }) firstname!: string;
  @ApiProperty({ maxLength: 255, example: '' }) middle_name!: string;
  @ApiProperty({ maxLength: 255, example: 'Doe' }) surname!: string;
  @ApiProperty({ maxLength: 255, example: 'Janey' }) known_as!: string;
  @ApiPropertyOptional({
    type: 'object',
    nullable: true,
    maxProperties: 8,
    additionalProperties: { type: 'array', items: { type: 'string', maxLength: 255 }, maxItems: 20 },
    description: 'For Webmasters and API keys only.',
    example: { saml: ['jane.doe@idp.example.org'] },
  })
  authname?: Record<string, string[]> | null;
  @ApiProperty({ format: 'uri', maxLength: 2048, example: 'http://127.0.0.1:3000/assets/default-avatar.svg' })
  user_avatar!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: null }) manager_uuid!: string | null;
  @ApiProperty({ maxLength: 10_000, example: '' }) about_me!: string;
  @ApiProperty({
    type: 'object',
    nullable: true,
    properties: LINKS,
    required: Object.keys(LINKS),
    example: null,
  })
  social_media!: Record<string, string> | null;
  @ApiProperty() hide_email!: boolean;
  @ApiProperty() hide_phone_numbers!: boolean;
  @ApiProperty({ format: 'date-time', example: '2026-01-31T08:15:30.123Z' }) created!: string;
  @ApiProperty({ format: 'date-time', example: '2026-01-31T08:15:30.123Z' }) updated!: string;
  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'For the user, Webmasters and API keys only.',
  })
  last_access?: string | null;
}

export class UserUuidDto {
  @ApiProperty({ format: 'uuid', example: '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10' }) uuid!: string;
}

export class UserPageDto {
  @ApiProperty({
    type: 'integer',
    minimum: 0,
    example: 1,
    description: 'All that match, not only this page.',
  })
  Count!: number;
  @ApiProperty({ type: [UserDto], maxItems: MAX_LIMIT }) Results!: UserDto[];
}
