import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions, PickType } from '@nestjs/swagger';
import { type Actor, isSelf } from '../access/actor.js';
import { isWebmaster } from '../access/policy.js';
import { ACTOR_KINDS, type AuditRecord } from '../audit/audit-event.js';
import type { NameResolver } from '../audit/audit-names.service.js';
import { type AuditActorDto, REASON, presentActor } from '../audit/audit.view.js';
import type { EntityTags } from '../platform/http/entity-tags.js';
import { type DbTime, toIso } from '../platform/common/time.js';
import { PAGE_COUNT, PageQuery, PageOf } from '../platform/http/page.js';
import type { Direction } from '../platform/database/keyset-pages.js';
import { ChoiceParam, TextParam, TimeParam, UuidParam } from '../platform/input/query-rules.js';
import { ID, NULLABLE_TIME, TIME, describeTexts } from '../platform/openapi/shared-schemas.js';
import { MAX, MAX_ITEMS, NETWORKS, type Network, type SocialMedia, STATUSES } from './model/formats.js';
import type { User } from './model/user.js';

/** Maximum number of group roles of a user, as documented in the OpenAPI file. In practice, no user has this many. */
const MAX_GROUP_ROLES = 200;
const HIDEABLE = { description: 'Empty if the user hides this field from the caller.' } as const;
/** Schema of fields that only Webmasters and API keys see. */
const DATASET = { maxLength: 64, readOnly: true, example: 'hr' } as const;
const Line = (maxLength: number, example: string, schema: ApiPropertyOptions = {}) =>
  ApiProperty({ maxLength, example, ...schema });

export class UserDto {
  @ApiProperty(ID) uuid!: string;
  @Line(MAX.username, 'jane.doe') username!: string;
  @Line(MAX.email, 'jane.doe@example.org', HIDEABLE) email!: string;
  @Line(MAX.externalId, 'HR-10042') external_id!: string;
  @ApiProperty({ ...describeTexts(MAX.role, MAX_ITEMS.roles), example: ['Organisational user'] })
  roles!: readonly string[];
  @ApiProperty({
    ...describeTexts(MAX.role, MAX_GROUP_ROLES),
    readOnly: true,
    description: "Roles from the user's groups, in addition to the user's own roles.",
    example: [],
  })
  group_roles!: readonly string[];
  @ApiProperty({ enum: STATUSES }) status!: User['status'];
  @Line(MAX.phone, '+44 20 7946 0958', HIDEABLE) phone!: string;
  @Line(MAX.phone, '', HIDEABLE) mobile!: string;
  @Line(MAX.name, 'Jane') firstname!: string;
  @Line(MAX.name, '') middle_name!: string;
  @Line(MAX.name, 'Doe') surname!: string;
  @Line(MAX.name, 'Janey') known_as!: string;
  @ApiPropertyOptional({
    type: 'object',
    maxProperties: MAX_ITEMS.methods,
    additionalProperties: describeTexts(MAX.authname, MAX_ITEMS.namesOfMethod),
    description: 'Login names by authentication method. Only shown to Webmasters and API keys.',
    example: { saml: ['jane.doe@idp.example.org'] },
  })
  authname?: User['authname'];
  @Line(MAX.url, 'http://127.0.0.1:3000/assets/default-avatar.svg', { format: 'uri' }) user_avatar!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: null }) manager_uuid!: string | null;
  @Line(MAX.aboutMe, '') about_me!: string;
  @ApiProperty({
    type: 'object',
    properties: Object.fromEntries(NETWORKS.map((name) => [name, { type: 'string', maxLength: MAX.url }])),
    description:
      'The URLs of the user, by social network. Contains every network, or is empty if the user has no URL.',
    example: {},
  })
  social_media!: Partial<Record<Network, string>>;
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    readOnly: true,
    description:
      'Attributes that only identity providers use, such as `displayName`. Only shown to Webmasters and API keys.',
    example: {},
  })
  attributes?: User['attributes'];
  @ApiProperty() hide_email!: boolean;
  @ApiProperty() hide_phone_numbers!: boolean;
  @ApiPropertyOptional({
    readOnly: true,
    description: 'True if the user must replace the password at the next login.',
  })
  password_change_required?: boolean;
  @ApiPropertyOptional({ ...DATASET, description: 'The data set that manages the user, or `scim`.' })
  managed_by?: string;
  @ApiPropertyOptional({ ...DATASET, example: '', description: 'The part of this data set.' })
  managed_part?: string;
  @ApiPropertyOptional({
    ...DATASET,
    example: '',
    description:
      'Data set whose import blocked the user. Its file did not contain the user, or set the status Blocked.',
  })
  blocked_by?: string;
  @ApiProperty(TIME) created!: string;
  @ApiProperty(TIME) updated!: string;
  @ApiPropertyOptional({ ...NULLABLE_TIME, description: 'Only shown to the user, Webmasters and API keys.' })
  last_access?: string | null;
}

export class GeneratedPasswordDto {
  @ApiProperty({ maxLength: MAX.password, example: 'h7qm-x3vb-k2wd-9rtc-n4ys-e8pj' }) password!: string;
}

export class UserUuidDto extends PickType(UserDto, ['uuid']) {}

/** Properties of the actor who deleted a user. OpenAPI 3.0 does not support nullable references. */
const DELETER = {
  kind: { type: 'string' as const, enum: [...ACTOR_KINDS] },
  id: { type: 'string' as const, format: 'uuid', nullable: true },
  name: { type: 'string' as const, maxLength: 255 },
};

export class UserPageDto extends PageOf(UserDto, PAGE_COUNT) {}

class DeletedUserDto extends UserDto {
  @ApiProperty(TIME) deleted!: string;
  @ApiProperty({ ...TIME, description: 'Time after which the user can no longer be restored.' })
  final_removal!: string;
  @ApiProperty({
    type: 'object',
    nullable: true,
    properties: DELETER,
    required: ['kind', 'id', 'name'],
    description:
      'Null if the audit no longer contains the deletion, and for an API key without `audit:read`.',
  })
  deleted_by!: Pick<AuditActorDto, 'kind' | 'id' | 'name'> | null;
  @ApiProperty(REASON) reason!: string;
}

export class DeletedPageDto extends PageOf(DeletedUserDto, PAGE_COUNT) {}

export class DeletedQuery extends PageQuery {
  @TimeParam({ description: 'Only users deleted at this time or later, such as 2026-01-31T12:00:00Z.' })
  since?: string;

  @UuidParam({ description: 'Only the user with this id.' })
  uuid?: string;

  @TextParam(255, {
    description: 'Only users with all of these words in the name, username, e-mail address or external id.',
  })
  search?: string;

  @ChoiceParam(['asc', 'desc'], { default: 'asc', description: '`desc` lists the last deletion first.' })
  order?: Direction;
}

/**
 * The fields that a caller sees: all fields (`full`), or the fields of the caller's own profile (`self`) or of another
 * user's profile (`colleague`).
 */
export type View = 'full' | 'self' | 'colleague';

export function getView(actor: Actor, uuid: string): View {
  if (isWebmaster(actor)) return 'full';
  return isSelf(actor, uuid) ? 'self' : 'colleague';
}

/**
 * Converts a user to the body of a response (interface §3). Omits `authname`, `attributes` and `last_access` if the
 * caller may not see them.
 */
export function presentUser(user: User, view: View, defaultAvatar: string): UserDto {
  const hidden = view === 'colleague';
  return {
    uuid: user.uuid,
    username: user.username,
    email: hidden && user.hide_email ? '' : user.email,
    external_id: user.external_id,
    roles: user.roles,
    group_roles: user.group_roles,
    status: user.status,
    phone: hidden && user.hide_phone_numbers ? '' : user.phone,
    mobile: hidden && user.hide_phone_numbers ? '' : user.mobile,
    firstname: user.firstname,
    middle_name: user.middle_name,
    surname: user.surname,
    known_as: user.known_as,
    ...(view === 'full' && presentManagement(user)),
    user_avatar: user.user_avatar === '' ? defaultAvatar : user.user_avatar,
    manager_uuid: user.manager_uuid,
    about_me: user.about_me,
    social_media: presentSocialMedia(user.social_media),
    hide_email: user.hide_email,
    hide_phone_numbers: user.hide_phone_numbers,
    created: toIso(user.created),
    updated: toIso(user.updated),
    ...(!hidden && { password_change_required: user.password_change_required }),
    ...(!hidden && { last_access: user.last_access === null ? null : toIso(user.last_access) }),
  };
}

function presentManagement({ authname, attributes, managed_by, managed_part, blocked_by }: User) {
  const dataset = { managed_by: managed_by ?? '', managed_part: managed_part ?? '' };
  return { authname, attributes, ...dataset, blocked_by: blocked_by ?? '' };
}

/** A deleted user with the audit event of the deletion, if the caller may read it and it is retained. */
export interface DeletedUser {
  user: User;
  deleted: DbTime;
  finalRemoval: DbTime;
  event: AuditRecord | undefined;
  nameOf: NameResolver;
}

export function presentDeleted(
  { user, deleted, finalRemoval, event, nameOf }: DeletedUser,
  defaultAvatar: string,
): DeletedUserDto {
  const actor = event && presentActor(event.actor, nameOf);
  return Object.assign(presentUser(user, 'full', defaultAvatar), {
    deleted: toIso(deleted),
    final_removal: toIso(finalRemoval),
    deleted_by: actor ? { kind: actor.kind, id: actor.id, name: actor.name } : null,
    reason: event?.reason ?? '',
  });
}

function presentSocialMedia(media: Readonly<SocialMedia>): Partial<Record<Network, string>> {
  if (Object.keys(media).length === 0) return {};
  const { facebook = '', linkedin = '', twitter = '' } = media;
  return { facebook, linkedin, twitter };
}

/**
 * Returns the strong ETag of a user in a response. It contains `last_access`, which can change without a new version.
 * `If-Match` compares only the version (ADR 6).
 */
export function userEtagOf(user: User, view: View, { suffix }: EntityTags): string {
  const seen = view === 'colleague' || user.last_access === null ? '0' : user.last_access.replace(/\D/g, '');
  return `"${user.version}${suffix}.${seen}.${view}"`;
}

/** Matches the ETag of a user, for `EntityTags.parseIfMatch`. */
export const USER_ETAG = /^"(\d{1,9})(-\d+)?\.\d+\.[a-z]+"$/;
