import type { ComponentChildren } from 'preact';
import type { User } from './api/client.js';
import { isWebmaster, canReadUsers } from './api/session.js';
import { AuditPage } from './pages/audit/audit-page.js';
import { GroupPage } from './pages/groups/group-page.js';
import { GroupsPage } from './pages/groups/groups-page.js';
import { HomePage } from './pages/home/home-page.js';
import { ImportPage } from './pages/import/import-page.js';
import { ImportsPage } from './pages/imports-page.js';
import { KeysPage } from './pages/keys/keys-page.js';
import { NewImportPage } from './pages/new-import/new-import-page.js';
import { ProfilePage } from './pages/profiles/profile-page.js';
import { ProfilesPage } from './pages/profiles/profiles-page.js';
import { SchedulePage } from './pages/schedule-page.js';
import { DeletedUserPage } from './pages/user/deleted-user-page.js';
import { NewUserPage } from './pages/user/new-user-page.js';
import { UserPage } from './pages/user/user-page.js';
import { DeletedUsersPage } from './pages/users/deleted-users-page.js';
import { UsersPage } from './pages/users/users-page.js';
import type { IconName } from './parts/icon.js';

export interface Route {
  /** Path below `/console`. A segment with a colon is a parameter: `/users/:id`. */
  path: string;
  page: (props: { user: User; params: Record<string, string> }) => ComponentChildren;
  /** Returns true if the user may open the page. By default, Webmasters may. The service checks permissions itself. */
  isAllowed?: (user: User) => boolean;
  /** Navigation link. Missing for pages that other pages link to. */
  nav?: { text: string; icon: IconName };
}

const allowEveryUser = (): boolean => true;

/**
 * All pages, in navigation order. To add a page, export a component from a file in `pages/` and add a line here. A page renders
 * with `Page` and other parts, reads with `useResource` or `useList`, and writes with `useAction`. It stores in the query
 * (`useUrl`, `setQuery`) what must survive a reload. `test/console/pages.e2e-spec.ts` opens every page and checks it with
 * axe-core.
 */
export const ROUTES: readonly Route[] = [
  { path: '/home', page: HomePage, nav: { text: 'Home', icon: 'home' } },
  { path: '/users', page: UsersPage, isAllowed: canReadUsers, nav: { text: 'Users', icon: 'users' } },
  { path: '/users/new', page: NewUserPage },
  { path: '/users/deleted', page: DeletedUsersPage },
  { path: '/users/deleted/:id', page: DeletedUserPage },
  { path: '/users/:id', page: UserPage, isAllowed: allowEveryUser },
  { path: '/imports', page: ImportsPage, nav: { text: 'Imports', icon: 'imports' } },
  { path: '/imports/new', page: NewImportPage },
  { path: '/imports/:id', page: ImportPage },
  { path: '/schedule', page: SchedulePage, nav: { text: 'Schedule', icon: 'calendar' } },
  { path: '/profiles', page: ProfilesPage, nav: { text: 'Profiles', icon: 'columns' } },
  { path: '/profiles/new', page: ProfilePage },
  { path: '/profiles/:name', page: ProfilePage },
  { path: '/groups', page: GroupsPage, nav: { text: 'Groups', icon: 'list' } },
  { path: '/groups/:id', page: GroupPage },
  { path: '/keys', page: KeysPage, nav: { text: 'API keys', icon: 'key' } },
  { path: '/audit', page: AuditPage, nav: { text: 'Audit', icon: 'clock' } },
  { path: '/me', page: UserPage, isAllowed: allowEveryUser, nav: { text: 'My profile', icon: 'person' } },
];

export const mayOpen = ({ isAllowed = isWebmaster }: Route, user: User): boolean => isAllowed(user);

/** Finds the first route that matches a path, with its parameters. */
export function matchRoute(path: string): { route: Route; params: Record<string, string> } | undefined {
  const parts = path.split('/');
  for (const route of ROUTES) {
    const segments = route.path.split('/');
    const isMatch =
      segments.length === parts.length &&
      segments.every((each, n) => each.startsWith(':') || each === parts[n]);
    if (!isMatch) continue;
    const parameters = segments.flatMap((each, n) =>
      each.startsWith(':') ? [[each.slice(1), decodeSegment(parts[n] ?? '')]] : [],
    );
    return { route, params: Object.fromEntries(parameters) as Record<string, string> };
  }
  return undefined;
}

function decodeSegment(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the start page of a user: the first navigation link that the user may open. */
export const getStartPath = (user: User): string =>
  ROUTES.find((route) => route.nav && mayOpen(route, user))?.path ?? '/me';
