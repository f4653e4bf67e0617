import { useLayoutEffect } from 'preact/hooks';
import { createStore } from './store.js';

/** Forms of the current page with unsaved changes. */
const unsavedForms = new Set<symbol>();

/** Navigation that waits for the user's confirmation (`LeaveConfirmation`). */
export const pendingNavigation = createStore<(() => void) | undefined>(undefined);

/** Runs work that leaves the page. Asks for confirmation first if there are unsaved changes. */
export function confirmIfUnsaved(work: () => void): void {
  if (unsavedForms.size === 0) work();
  else
    pendingNavigation.set(() => {
      unsavedForms.clear();
      work();
    });
}

/** Returns true if the page has unsaved changes. */
export const hasUnsavedForms = (): boolean => unsavedForms.size > 0;

const preventUnload = (event: BeforeUnloadEvent): void => {
  event.preventDefault();
};

/** Asks for confirmation before the page is left while a form has unsaved changes. */
export function useUnsavedWarning(isChanged: boolean): void {
  useLayoutEffect(() => {
    if (!isChanged) return undefined;
    const form = Symbol();
    unsavedForms.add(form);
    addEventListener('beforeunload', preventUnload);
    return () => {
      unsavedForms.delete(form);
      if (unsavedForms.size === 0) removeEventListener('beforeunload', preventUnload);
    };
  }, [isChanged]);
}
