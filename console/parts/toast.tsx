import { store, useStore } from '../lib/store.js';
import { Icon } from './icon.js';

const said = store<{ text: string; turn: number }>({ text: '', turn: 0 });
let timer: ReturnType<typeof setTimeout> | undefined;
const SECONDS = 8;

/** Shows a short message, which screen readers announce. */
export function say(text: string): void {
  clearTimeout(timer);
  said.set({ text, turn: said.get().turn + 1 });
  timer = setTimeout(() => {
    said.set({ text: '', turn: said.get().turn });
  }, SECONDS * 1000);
}

/** Displays the current message. Rendered once in the page frame. */
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
