import { store, useStore } from '../lib/store.js';
import { Icon } from './icon.js';

const said = store<{ text: string; turn: number }>({ text: '', turn: 0 });
let timer: ReturnType<typeof setTimeout> | undefined;
const SECONDS = 8;

/** Says what has been done, to eyes and to screen readers. */
export function say(text: string): void {
  clearTimeout(timer);
  said.set({ text, turn: said.get().turn + 1 });
  timer = setTimeout(() => {
    said.set({ text: '', turn: said.get().turn });
  }, SECONDS * 1000);
}

/** The one place of the page where it is said. */
export function Toast() {
  const { text } = useStore(said);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {text && (
        <p class="toast">
          <Icon name="check" />
          {text}
        </p>
      )}
    </div>
  );
}
