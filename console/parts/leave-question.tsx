import { useStore } from '../lib/store.js';
import { leaving } from '../lib/unsaved.js';
import { Dialog } from './dialog.js';

/** Asks whoever leaves a page with something typed that is not saved. */
export function LeaveQuestion() {
  const work = useStore(leaving);
  if (!work) return null;
  const close = (): void => {
    leaving.set(undefined);
  };
  return (
    <Dialog title="Leave without saving?" onClose={close}>
      <p>What you have changed on this page is not saved, and would be lost.</p>
      <div class="buttons end">
        <button type="button" autofocus onClick={close}>
          Stay
        </button>
        <button
          type="button"
          class="danger"
          onClick={() => {
            close();
            work();
          }}
        >
          Leave
        </button>
      </div>
    </Dialog>
  );
}
