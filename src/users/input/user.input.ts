import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Normalise } from '../../input/normalise.js';
import {
  Clean,
  Ignored,
  MaxCharacters,
  MinCharacters,
  NotBlank,
  OfType,
  Required,
  TextRule,
  line,
  trimmed,
} from '../../input/rules.js';
import { isUuid } from '../../common/uuid.js';
import { Email, Flag, Line, Secret, Url, Username } from './fields.js';
import {
  authnameRules,
  rolesRules,
  socialMediaRules,
  toAuthname,
  toRoles,
  toSocialMedia,
} from './document-fields.js';
import type { Authname, SocialMedia } from '../model/user.js';

/**
 * What a client may write of a user (interface §3). After `readInput` an undefined field was not sent, null clears
 * it, and any other value is normalised and obeys every rule that needs neither settings nor other records.
 */
export class UserInput {
  @ApiPropertyOptional({
    type: String,
    maxLength: 254,
    example: 'jane.doe',
    description: 'Unique in any case; also not the e-mail of another user.',
  })
  @Username()
  username?: string | null;

  @ApiPropertyOptional({
    type: String,
    maxLength: 254,
    example: 'jane.doe@example.org',
    description: 'Unique in any case; its local part has at most 64 characters.',
  })
  @Email()
  email?: string | null;

  @ApiPropertyOptional({
    type: String,
    maxLength: 255,
    example: 'HR-10042',
    nullable: true,
    description: 'Id in the identity source; case-sensitive, unique.',
  })
  @Normalise(trimmed)
  @OfType('string')
  @Clean()
  @MaxCharacters(255)
  external_id?: string | null;

  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'string', maxLength: 64 },
    maxItems: 32,
    nullable: true,
    example: ['Organisational user', 'Editor'],
    description: 'Names in any case. Empty: the default role.',
  })
  @Normalise(toRoles)
  @rolesRules()
  roles?: string[] | null;

  @ApiPropertyOptional({ enum: ['Active', 'Blocked'], example: 'Active' })
  @NotBlank()
  @Normalise(line)
  @OfType('string')
  @TextRule('invalid_value', 'must be Active or Blocked', (text) => text === 'Active' || text === 'Blocked')
  status?: 'Active' | 'Blocked' | null;

  @ApiPropertyOptional({ type: String, maxLength: 64, nullable: true, example: '+44 20 7946 0958' })
  @Line(64)
  phone?: string | null;

  @ApiPropertyOptional({ type: String, maxLength: 64, nullable: true, example: '+44 7700 900123' })
  @Line(64)
  mobile?: string | null;

  @ApiPropertyOptional({ type: String, maxLength: 255, nullable: true, example: 'Jane' })
  @Line(255)
  firstname?: string | null;

  @ApiPropertyOptional({ type: String, maxLength: 255, nullable: true, example: '' })
  @Line(255)
  middle_name?: string | null;

  @ApiPropertyOptional({ type: String, maxLength: 255, nullable: true, example: 'Doe' })
  @Line(255)
  surname?: string | null;

  @ApiPropertyOptional({ type: String, maxLength: 255, nullable: true, example: 'Janey' })
  @Line(255)
  known_as?: string | null;

  @ApiPropertyOptional({
    type: 'object',
    nullable: true,
    maxProperties: 8,
    additionalProperties: { type: 'array', items: { type: 'string', maxLength: 255 }, maxItems: 20 },
    example: { saml: ['jane.doe@idp.example.org'] },
    description: 'Login names by method. The methods that are named are replaced, an empty list removes one.',
  })
  @Normalise(toAuthname)
  @authnameRules()
  authname?: Authname | null;

  @ApiPropertyOptional({
    type: String,
    writeOnly: true,
    minLength: 8,
    maxLength: 128,
    nullable: true,
    example: 'correct horse battery staple',
    description: 'Never trimmed. null removes it: nobody can log in with a password.',
  })
  @Secret()
  @MinCharacters(8)
  password?: string | null;

  @ApiPropertyOptional({
    type: String,
    writeOnly: true,
    maxLength: 128,
    description: "Needed to change one's own password.",
    example: 'Tr0ub4dor&3',
  })
  @Secret()
  current_password?: string | null;

  @ApiPropertyOptional({
    type: String,
    maxLength: 2048,
    nullable: true,
    example: 'https://intranet.example.org/jane.png',
  })
  @Url()
  user_avatar?: string | null;

  @ApiPropertyOptional({
    type: String,
    format: 'uuid',
    nullable: true,
    example: null,
    description: 'Another user; no cycle.',
  })
  @Normalise((raw) => (typeof raw === 'string' ? line(raw.toLowerCase()) : raw))
  @OfType('string')
  @TextRule('invalid_format', 'must be a UUID', isUuid)
  manager_uuid?: string | null;

  @ApiPropertyOptional({
    type: String,
    maxLength: 10000,
    nullable: true,
    example: 'Runs the London office.\nLikes maps.',
  })
  @Normalise(trimmed)
  @OfType('string')
  @Clean({ newlines: true })
  @MaxCharacters(10_000)
  about_me?: string | null;

  @ApiPropertyOptional({
    type: 'object',
    nullable: true,
    properties: {
      facebook: { type: 'string', maxLength: 2048 },
      linkedin: { type: 'string', maxLength: 2048 },
      twitter: { type: 'string', maxLength: 2048 },
    },
    example: { linkedin: 'https://www.linkedin.com/in/example' },
    description: 'http or https URLs; the networks that are named are replaced, an empty text removes one.',
  })
  @Normalise(toSocialMedia)
  @socialMediaRules()
  social_media?: SocialMedia | null;

  @ApiPropertyOptional({ nullable: true, type: Boolean, example: false })
  @Flag()
  hide_email?: boolean | null;

  @ApiPropertyOptional({ nullable: true, type: Boolean, example: false })
  @Flag()
  hide_phone_numbers?: boolean | null;
}

/**
 * `POST /users`: username and email must be there. Their rules are named again, because class-validator drops every
 * inherited rule of a property that a subclass puts a rule on.
 */
export class NewUserInput extends UserInput {
  @ApiProperty({
    required: true,
    maxLength: 254,
    example: 'jane.doe',
    description: 'Unique in any case; also not the e-mail of another user.',
  })
  @Required()
  @Username()
  override username!: string;

  @ApiProperty({
    required: true,
    maxLength: 254,
    example: 'jane.doe@example.org',
    description: 'Unique in any case.',
  })
  @Required()
  @Email()
  override email!: string;
}

/** `PUT /users/{user_id}`: what a GET returned may come back; read-only fields in it are ignored. */
export class ChangedUserInput extends UserInput {
  @ApiPropertyOptional({
    type: String,
    format: 'uuid',
    readOnly: true,
    description: 'Ignored, but must be that of the path.',
  })
  @Ignored()
  uuid?: unknown;

  @ApiPropertyOptional({ format: 'date-time', readOnly: true, nullable: true, type: String })
  @Ignored()
  created?: unknown;

  @ApiPropertyOptional({ format: 'date-time', readOnly: true, nullable: true, type: String })
  @Ignored()
  updated?: unknown;

  @ApiPropertyOptional({ format: 'date-time', readOnly: true, nullable: true, type: String })
  @Ignored()
  last_access?: unknown;
}
