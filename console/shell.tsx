import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { User } from './api/client.js';
import { useAction } from './api/resource.js';
import { signOut } from './api/session.js';
import { href, usePlace } from './lib/place.js';
import { unlessUnsaved } from './lib/unsaved.js';
import { Avatar } from './parts/avatar.js';
import { Icon } from './parts/icon.js';
import { Logo } from './parts/logo.js';
import { ProblemNote } from './parts/problem-note.js';
import { Toast } from './parts/toast.js';
import { ROUTES } from './routes.js';

/** The frame of every page, with the navigation on the left or, in a narrow window, in a menu. */
export function Shell({ user, children }: { user: User | undefined; children: ComponentChildren }) {
  const { path } = usePlace();
  const [isOpen, setOpen] = useState(false);
  const leaving = useAction();
  useEffect(() => {
    setOpen(false);
  }, [path]);
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
        <a class="brand" href={href('/')}>
          <Logo />
          Rollcall
        </a>
        <button
          type="button"
          class="bare burger"
          aria-expanded={isOpen}
          aria-controls="nav"
          aria-label="Menu"
          onClick={() => {
            setOpen(!isOpen);
          }}
        >
          <Icon name={isOpen ? 'close' : 'menu'} />
        </button>
        <div id="nav" class="drawer">
          <nav aria-label="Console">{user && <Links user={user} path={path} />}</nav>
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
                  onClick={() => {
                    unlessUnsaved(() => void leaving.run(signOut));
                  }}
                >
                  <Icon name="out" />
                </button>
              </div>
            )}
          </div>
        </div>
      </header>
      <main id="main" class="main" tabIndex={-1}>
        {leaving.problem && (
          <div class="stack">
            <p>
              <strong>You are still signed in.</strong>
            </p>
            <ProblemNote problem={leaving.problem} />
          </div>
        )}
        {children}
      </main>
      <Toast />
    </div>
  );
}

function Links({ user, path }: { user: User; path: string }) {
  const isIn = (own: string): boolean => path === own || path.startsWith(`${own}/`);
  return (
    <ul>
      {ROUTES.filter((route) => route.nav && route.isFor(user)).map((route) => (
        <li key={route.path}>
          <a class="item" href={href(route.path)} aria-current={isIn(route.path) ? 'page' : undefined}>
            {route.nav && <Icon name={route.nav.icon} />}
            {route.nav?.text}
          </a>
        </li>
      ))}
    </ul>
  );
}
