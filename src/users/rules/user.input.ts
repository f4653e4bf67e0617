import { MIN_PASSWORD_MIN_LENGTH } from '../../platform/common/secret-rules.js';
import { ReadOnly, Required } from '../../platform/input/field-rules.js';
import { describeTexts } from '../../platform/openapi/shared-schemas.js';
import { MAX } from '../model/formats.js';
import type { Authname, SocialMedia } from '../model/formats.js';
import type { User } from '../model/user.js';
import {
  Authnames,
  Email,
  Flag,
  Line,
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
 * Fields that a client can write (interface §3). After `readInput`, undefined fields were not sent, and null clears a
 * field. Other values are normalized. Rules that depend on settings or other users are checked later.
 */
export class UserInput {
  @Username({
    example: 'jane.doe',
    description: 'Must not be the username or e-mail address of another user. Case-insensitive.',
  })
  username?: string | null;

  @Email({
    example: 'jane.doe@example.org',
    description: `Must not be the e-mail address or username of another user. Case-insensitive. The part before the @ has at most ${MAX.localPart} characters.`,
  })
  email?: string | null;

  @Line({
    max: MAX.externalId,
    example: 'HR-10042',
    description: 'Id of the user in the identity source. Must be unique. Case-sensitive.',
  })
  external_id?: string | null;

  @Roles({
    example: ['Organisational user', 'Editor'],
    description: 'Names of roles. Case-insensitive. An empty list assigns the default role.',
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
    description:
      'Login names by authentication method. A list replaces the names of its method, and an empty list removes them. Other methods do not change.',
  })
  authname?: Authname | null;

  /** `NewPasswords` validates a new password later, because its rules depend on settings and the user. */
  @Secret({
    nullable: true,
    minLength: MIN_PASSWORD_MIN_LENGTH,
    example: 'correct horse battery staple',
    description:
      'At least PASSWORD_MIN_LENGTH characters (default 12) of any kind. Spaces at the start and end are kept. Must not be easy to guess. ' +
      'null removes the password. The user can then no longer log in with a password.',
  })
  password?: string | null;

  @Url({ example: 'https://intranet.example.org/jane.png' })
  user_avatar?: string | null;

  @Reference({ example: null, description: 'Uuid of the manager. Managers must not report to the user.' })
  manager_uuid?: string | null;

  @Paragraphs({ max: MAX.aboutMe, example: 'Runs the London office.\nLikes maps.' })
  about_me?: string | null;

  @SocialMediaLinks({
    example: { linkedin: 'https://www.linkedin.com/in/example' },
    description:
      'http or https URLs by social network. A URL replaces the URL of its network, and an empty string removes it. Other networks do not change.',
  })
  social_media?: SocialMedia | null;

  @Flag({ example: false })
  hide_email?: boolean | null;

  @Flag({ example: false })
  hide_phone_numbers?: boolean | null;
}

/** Body of `POST /users`. */
export class NewUserInput extends UserInput {
  @Required()
  override username!: string;

  @Required()
  override email!: string;
}

export type WritableUserInput = UserInput & { current_password?: string | null };

const IGNORED = { nullable: true, description: 'Ignored if sent.' };
const ReadOnlyDataset = () => ReadOnly({ type: String, maxLength: 64 }, IGNORED);
const ReadOnlyTime = () => ReadOnly({ type: String, format: 'date-time' }, { nullable: true });

/** Body of `PUT /users/{user_id}`. A client may send the response of GET, whose read-only fields are ignored. */
export class ChangedUserInput extends UserInput {
  @Secret({
    example: 'Tr0ub4dor&3',
    description:
      'Required when users change their own password, but optional for Webmasters. Not accepted in any other change.',
  })
  current_password?: string | null;

  @ReadOnly({ type: String, format: 'uuid' }, { description: 'If sent, it must equal the id in the path.' })
  uuid?: unknown;

  @ReadOnlyTime()
  created?: unknown;

  @ReadOnlyTime()
  updated?: unknown;

  @ReadOnlyTime()
  last_access?: unknown;

  @ReadOnly({ type: 'object', additionalProperties: true }, IGNORED)
  attributes?: unknown;

  @ReadOnly(describeTexts(MAX.role, 200), IGNORED)
  group_roles?: unknown;

  @Flag({ example: true, description: 'Another user must replace the new password at the next login.' })
  password_change_required?: boolean | null;

  @ReadOnlyDataset()
  managed_by?: unknown;

  @ReadOnlyDataset()
  managed_part?: unknown;

  @ReadOnlyDataset()
  blocked_by?: unknown;
}

/** Body of `POST /users/{user_id}/password`. */
export class PasswordOptionsInput {
  @Flag({ example: true, description: 'If true (the default), the next session must replace the password.' })
  must_change?: boolean | null;
}
