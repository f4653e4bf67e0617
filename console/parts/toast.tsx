import { createStore, useStore } from '../lib/store.js';
import { Icon } from './icon.js';

const currentToast = createStore('');
let timer: ReturnType<typeof setTimeout> | undefined;
const DISPLAY_SECONDS = 8;

/** Shows a short message, which screen readers announce. */
export function showToast(text: string): void {
  clearTimeout(timer);
  currentToast.set(text);
  timer = setTimeout(() => currentToast.set(''), DISPLAY_SECONDS * 1000);
}

/** Displays the current message. Rendered once in the page frame. */
export function Toast() {
  const text = useStore(currentToast);
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
