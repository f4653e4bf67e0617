import { useStore } from '../lib/store.js';
import { pendingNavigation } from '../lib/unsaved.js';
import { Dialog } from './dialog.js';

/** Asks for confirmation before a page with unsaved changes is left. */
export function LeaveConfirmation() {
  const work = useStore(pendingNavigation);
  if (!work) return null;
  const close = (): void => pendingNavigation.set(undefined);
  return (
    <Dialog title="Leave without saving?" onClose={close}>
      <p>This page has unsaved changes. If you leave, they will be lost.</p>
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
