import { useLayoutEffect } from 'preact/hooks';
import { store } from './store.js';

/** Forms of the current page with unsaved changes. */
const forms = new Set<symbol>();

/** Navigation that waits for the user's confirmation (`LeaveQuestion`). */
export const leaving = store<(() => void) | undefined>(undefined);

/** Runs work that leaves the page. Asks for confirmation first if there are unsaved changes. */
export function unlessUnsaved(work: () => void): void {
  if (forms.size === 0) work();
  else
    leaving.set(() => {
      forms.clear();
      work();
    });
}

/** Returns true if the page has unsaved changes. */
export const isUnsaved = (): boolean => forms.size > 0;

const warn = (event: BeforeUnloadEvent): void => {
  event.preventDefault();
};

/** Asks for confirmation before the page is left while a form has unsaved changes. */
export function useUnsaved(isChanged: boolean): void {
  useLayoutEffect(() => {
    if (!isChanged) return undefined;
    const form = Symbol();
    forms.add(form);
    addEventListener('beforeunload', warn);
    return () => {
      forms.delete(form);
      if (forms.size === 0) removeEventListener('beforeunload', warn);
    };
  }, [isChanged]);
}
