import { caseFold, normalForm } from '../platform/common/text.js';

export const WEBMASTER = 'Webmaster';
export const EXTERNAL_USER = 'External user';
export const ORGANISATIONAL_USER = 'Organisational user';
export const DEFAULT_ROLES: readonly string[] = [ORGANISATIONAL_USER];

/** The role names of the published interface; `EXTRA_ROLES` adds to them. */
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

/** The roles of one installation: input in any case, canonical names as output. */
export class RoleCatalogue {
  readonly names: readonly string[];
  private readonly byKey: ReadonlyMap<string, string>;

  constructor(extraRoles: readonly string[]) {
    // The first name of a key wins: `EXTRA_ROLES=webmaster` must not rename the role that permissions depend on.
    const byKey = new Map<string, string>();
    for (const name of [...PUBLISHED, ...extraRoles]) {
      const key = caseFold(normalForm(name, 'NFC').trim());
      if (!byKey.has(key)) byKey.set(key, name);
    }
    this.byKey = byKey;
    this.names = [...this.byKey.values()];
  }

  /** The canonical name, or undefined for an unknown role. */
  find(name: string): string | undefined {
    return this.byKey.get(caseFold(normalForm(name, 'NFC').trim()));
  }

  /** The same roles in the catalogue's order, so that a set of roles has one form. */
  sort(roles: readonly string[]): string[] {
    return this.names.filter((name) => roles.includes(name));
  }
}
