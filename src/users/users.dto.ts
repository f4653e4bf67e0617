import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

const LINKS = {
  facebook: { type: 'string' },
  linkedin: { type: 'string' },
  twitter: { type: 'string' },
} as const;

/** The answer for a user, for the OpenAPI file; `user.view.ts` makes it. */
export class UserDto {
  @ApiProperty({ format: 'uuid', example: '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10' }) uuid!: string;
  @ApiProperty({ example: 'jane.doe' }) username!: string;
  @ApiProperty({ example: 'jane.doe@example.org', description: 'Empty when hidden from the reader.' })
  email!: string;
  @ApiProperty({ example: 'HR-10042' }) external_id!: string;
  @ApiProperty({ type: [String], example: ['Organisational user'] }) roles!: string[];
  @ApiProperty({ enum: ['Active', 'Blocked'] }) status!: string;
  @ApiProperty({ example: '+44 20 7946 0958', description: 'Empty when hidden from the reader.' })
  phone!: string;
  @ApiProperty({ example: '', description: 'Empty when hidden from the reader.' }) mobile!: string;
  @ApiProperty({ example: 'Jane' }) firstname!: string;
  @ApiProperty({ example: '' }) middle_name!: string;
  @ApiProperty({ example: 'Doe' }) surname!: string;
  @ApiProperty({ example: 'Janey' }) known_as!: string;
  @ApiPropertyOptional({
    type: 'object',
    nullable: true,
    additionalProperties: { type: 'array', items: { type: 'string' } },
    description: 'For Webmasters and API keys only.',
    example: { saml: ['jane.doe@idp.example.org'] },
  })
  authname?: Record<string, string[]> | null;
  @ApiProperty({ format: 'uri', example: 'http://127.0.0.1:3000/assets/default-avatar.svg' })
  user_avatar!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: null }) manager_uuid!: string | null;
  @ApiProperty({ example: '' }) about_me!: string;
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
  @ApiProperty({ type: [UserDto] }) Results!: UserDto[];
}
