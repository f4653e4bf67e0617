/** Gives the focus to the title of the page: what had it goes away, and nobody who uses a keyboard is to start anew at the top. */
export function focusTitle(): void {
  document.querySelector('h1')?.focus({ preventScroll: true });
}
