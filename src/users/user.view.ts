import type { Actor } from '../access/actor.js';
import { isSelf } from '../access/actor.js';
import { isWebmaster } from '../access/policy.js';
import { toIso } from '../common/time.js';
import type { SocialMedia, User } from './model/user.js';

/** How much of a user a reader sees: everything, one's own profile, or what colleagues see. */
export type View = 'full' | 'self' | 'colleague';

export function viewFor(actor: Actor, uuid: string): View {
  if (isWebmaster(actor)) return 'full';
  return isSelf(actor, uuid) ? 'self' : 'colleague';
}

/**
 * The answer for a user: a white list (interface §3). Text that is not set is `""`, everything else null; fields
 * that the reader may not know of (`authname`, `last_access`) are left out.
 */
export function presentUser(user: User, view: View, defaultAvatar: string) {
  const hidden = view === 'colleague';
  return {
    uuid: user.uuid,
    username: user.username,
    email: hidden && user.hide_email ? '' : user.email,
    external_id: user.external_id,
    roles: user.roles,
    status: user.status,
    phone: hidden && user.hide_phone_numbers ? '' : user.phone,
    mobile: hidden && user.hide_phone_numbers ? '' : user.mobile,
    firstname: user.firstname,
    middle_name: user.middle_name,
    surname: user.surname,
    known_as: user.known_as,
    ...(view === 'full' && { authname: orNull(user.authname) }),
    user_avatar: user.user_avatar === '' ? defaultAvatar : user.user_avatar,
    manager_uuid: user.manager_uuid,
    about_me: user.about_me,
    social_media: presentSocialMedia(user.social_media),
    hide_email: user.hide_email,
    hide_phone_numbers: user.hide_phone_numbers,
    created: toIso(user.created),
    updated: toIso(user.updated),
    ...(!hidden && { last_access: user.last_access === null ? null : toIso(user.last_access) }),
  };
}

function orNull<T extends object>(document: T): T | null {
  return Object.keys(document).length === 0 ? null : document;
}

function presentSocialMedia(media: Readonly<SocialMedia>): Required<SocialMedia> | null {
  const { facebook = '', linkedin = '', twitter = '' } = media;
  return orNull(media) && { facebook, linkedin, twitter };
}
