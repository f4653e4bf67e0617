import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { User } from './api/client.js';
import { useAction } from './api/resource.js';
import { signOut } from './api/session.js';
import { toHref, useUrl } from './lib/url.js';
import { confirmIfUnsaved } from './lib/unsaved.js';
import { Avatar } from './parts/avatar.js';
import { Icon } from './parts/icon.js';
import { Logo } from './parts/logo.js';
import { ProblemNote } from './parts/problem-note.js';
import { Toast } from './parts/toast.js';
import { ROUTES, mayOpen } from './routes.js';

/** The frame of every page, with the navigation on the left or, in a narrow window, in a menu. */
export function Shell({ user, children }: { user: User | undefined; children: ComponentChildren }) {
  const { path } = useUrl();
  const [isOpen, setOpen] = useState(false);
  const signOutAction = useAction();
  useEffect(() => setOpen(false), [path]);
  return (
    <div
      class="shell"
      onKeyDown={(event) => {
        if (event.key === 'Escape') setOpen(false);
      }}
    >
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class={`side${isOpen ? ' open' : ''}`}>
        <a class="brand" href={toHref('/')}>
          <Logo />
          Rollcall
        </a>
        <button
          type="button"
          class="bare burger"
          aria-expanded={isOpen}
          aria-controls="nav"
          aria-label="Menu"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? 'close' : 'menu'} />
        </button>
        <div id="nav" class="drawer">
          <nav aria-label="Console">{user && <NavigationLinks user={user} path={path} />}</nav>
          <div class="foot">
            <a href="/docs" class="item" target="_blank" rel="noreferrer">
              <Icon name="docs" />
              API documentation
            </a>
            <a href="/guides" class="item" target="_blank" rel="noreferrer">
              <Icon name="profile" />
              Guides
            </a>
            {user && (
              <div class="me">
                <Avatar user={user} />
                <span class="cut">{user.username}</span>
                <button
                  type="button"
                  class="bare"
                  aria-label="Sign out"
                  title="Sign out"
                  onClick={() => confirmIfUnsaved(() => void signOutAction.run(signOut))}
                >
                  <Icon name="out" />
                </button>
              </div>
            )}
          </div>
        </div>
      </header>
      <main id="main" class="main" tabIndex={-1}>
        {signOutAction.problem && (
          <div class="stack">
            <p>
              <strong>You are still signed in.</strong>
            </p>
            <ProblemNote problem={signOutAction.problem} />
          </div>
        )}
        {children}
      </main>
      <Toast />
    </div>
  );
}

function NavigationLinks({ user, path }: { user: User; path: string }) {
  const isIn = (own: string): boolean => path === own || path.startsWith(`${own}/`);
  return (
    <ul>
      {ROUTES.filter((route) => route.nav && mayOpen(route, user)).map((route) => (
        <li key={route.path}>
          <a class="item" href={toHref(route.path)} aria-current={isIn(route.path) ? 'page' : undefined}>
            {route.nav && <Icon name={route.nav.icon} />}
            {route.nav?.text}
          </a>
        </li>
      ))}
    </ul>
  );
}
