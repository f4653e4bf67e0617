import { useLayoutEffect } from 'preact/hooks';
import { store } from './store.js';

/** Forms of this page with something typed that is not saved. */
const forms = new Set<symbol>();

/** What somebody was about to do who would lose it; they are asked (`LeaveQuestion`). */
export const leaving = store<(() => void) | undefined>(undefined);

/** Does something that takes the page away: at once, or when whoever has typed something lets it go. */
export function unlessUnsaved(work: () => void): void {
  if (forms.size === 0) work();
  else
    leaving.set(() => {
      forms.clear();
      work();
    });
}

/** Whether something would be lost. */
export const isUnsaved = (): boolean => forms.size > 0;

const warn = (event: BeforeUnloadEvent): void => {
  event.preventDefault();
};

/** Keeps the page from being left without a question while something in it is not saved. */
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
