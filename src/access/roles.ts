import { foldCase, toNormalForm } from '../platform/common/text.js';

export const WEBMASTER = 'Webmaster';
export const EXTERNAL_USER = 'External user';
export const ORGANISATIONAL_USER = 'Organisational user';
export const DEFAULT_ROLES: readonly string[] = [ORGANISATIONAL_USER];

/** The role names of the published API. `EXTRA_ROLES` adds more. */
const PUBLISHED: readonly string[] = [
  'Author',
  'Badge manager',
  'Blogger',
  'Brand manager',
  'Content layout manager',
  'Content reviewer',
  'Editor',
  EXTERNAL_USER,
  'Groups manager',
  'Ideas administrator',
  'Location admin',
  'Moderator',
  ORGANISATIONAL_USER,
  'Previewer',
  'Publisher',
  'Queries administrator',
  'Section manager',
  WEBMASTER,
];

/** The roles of one installation. `find` ignores case and returns the canonical name of a role. */
export class RoleCatalogue {
  readonly names: readonly string[];
  private readonly byKey = new Map<string, string>();

  constructor(extraRoles: readonly string[]) {
    // If two names differ only in case, the first one is used, so `EXTRA_ROLES=webmaster` cannot rename the role
    // Webmaster.
    for (const name of [...PUBLISHED, ...extraRoles])
      if (this.find(name) === undefined) this.byKey.set(toRoleKey(name), name);
    this.names = [...this.byKey.values()];
  }

  find(name: string): string | undefined {
    return this.byKey.get(toRoleKey(name));
  }

  /** Returns the roles in catalogue order, so that equal sets of roles become equal lists. */
  sort(roles: readonly string[]): string[] {
    return this.names.filter((name) => roles.includes(name));
  }
}

const toRoleKey = (name: string): string => foldCase(toNormalForm(name, 'NFC').trim());
