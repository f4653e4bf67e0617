import { ApiPropertyOptional } from '@nestjs/swagger';
import { Allow } from 'class-validator';
import { SHORTEST_MIN_LENGTH } from '../../platform/common/secret-rules.js';
import { Required } from '../../platform/input/field-rules.js';
import { MAX } from '../model/formats.js';
import type { Authname, SocialMedia } from '../model/formats.js';
import type { User } from '../model/user.js';
import {
  Authnames,
  Email,
  Flag,
  Line,
  NewSecret,
  Paragraphs,
  Reference,
  Roles,
  Secret,
  SocialMediaLinks,
  Status,
  Url,
  Username,
} from './fields.js';

/**
 * What a client may write of a user (interface §3). After `readInput` an undefined field was not sent, null clears it,
 * and any other value is normalised and obeys every rule that needs neither settings nor other records.
 */
export class UserInput {
  @Username({ example: 'jane.doe', description: 'Unique in any case; also not the e-mail of another user.' })
  username?: string | null;

  @Email({
    example: 'jane.doe@example.org',
    description: `Unique in any case; its local part has at most ${MAX.localPart} characters.`,
  })
  email?: string | null;

  @Line({
    max: MAX.externalId,
    example: 'HR-10042',
    description: 'Id in the identity source; case-sensitive, unique.',
  })
  external_id?: string | null;

  @Roles({
    example: ['Organisational user', 'Editor'],
    description: 'Names in any case. Empty: the default role.',
  })
  roles?: string[] | null;

  @Status({ example: 'Active' })
  status?: User['status'] | null;

  @Line({ max: MAX.phone, example: '+44 20 7946 0958' })
  phone?: string | null;

  @Line({ max: MAX.phone, example: '+44 7700 900123' })
  mobile?: string | null;

  @Line({ max: MAX.name, example: 'Jane' })
  firstname?: string | null;

  @Line({ max: MAX.name, example: '' })
  middle_name?: string | null;

  @Line({ max: MAX.name, example: 'Doe' })
  surname?: string | null;

  @Line({ max: MAX.name, example: 'Janey' })
  known_as?: string | null;

  @Authnames({
    example: { saml: ['jane.doe@idp.example.org'] },
    description: 'Login names by method. The methods that are named are replaced, an empty list removes one.',
  })
  authname?: Authname | null;

  @NewSecret({
    minLength: SHORTEST_MIN_LENGTH,
    example: 'correct horse battery staple',
    description:
      'At least PASSWORD_MIN_LENGTH (12) characters of any kind, never trimmed, and not easy to guess. ' +
      'null removes it: nobody can log in with a password.',
  })
  password?: string | null;

  @Url({ example: 'https://intranet.example.org/jane.png' })
  user_avatar?: string | null;

  @Reference({ example: null, description: 'Another user; no cycle.' })
  manager_uuid?: string | null;

  @Paragraphs({ max: MAX.aboutMe, example: 'Runs the London office.\nLikes maps.' })
  about_me?: string | null;

  @SocialMediaLinks({
    example: { linkedin: 'https://www.linkedin.com/in/example' },
    description: 'http or https URLs; the networks that are named are replaced, an empty text removes one.',
  })
  social_media?: SocialMedia | null;

  @Flag({ example: false })
  hide_email?: boolean | null;

  @Flag({ example: false })
  hide_phone_numbers?: boolean | null;
}

/** `POST /users`: username and email are required. */
export class NewUserInput extends UserInput {
  @Required()
  override username!: string;

  @Required()
  override email!: string;
}

/** What a client may change of a user: an input without its read-only fields. */
export type WritableUserInput = UserInput & { current_password?: string | null };

const READ_ONLY = { readOnly: true, nullable: true, description: 'Ignored.' } as const;
const READ_ONLY_TIME = { type: String, format: 'date-time', readOnly: true, nullable: true } as const;

/** `PUT /users/{user_id}`: what a GET returned may come back; read-only fields in it are ignored. */
export class ChangedUserInput extends UserInput {
  @Secret({
    example: 'Tr0ub4dor&3',
    description:
      "Needed to change one's own password, of a Webmaster checked where it is sent. An error in any other change.",
  })
  current_password?: string | null;

  @ApiPropertyOptional({
    type: String,
    format: 'uuid',
    readOnly: true,
    description: 'Ignored, but must be that of the path.',
  })
  @Allow()
  uuid?: unknown;

  @ApiPropertyOptional(READ_ONLY_TIME)
  @Allow()
  created?: unknown;

  @ApiPropertyOptional(READ_ONLY_TIME)
  @Allow()
  updated?: unknown;

  @ApiPropertyOptional(READ_ONLY_TIME)
  @Allow()
  last_access?: unknown;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true, ...READ_ONLY })
  @Allow()
  attributes?: unknown;

  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'string', maxLength: MAX.role },
    maxItems: 200,
    ...READ_ONLY,
  })
  @Allow()
  group_roles?: unknown;
}
