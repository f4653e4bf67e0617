/** Moves the focus to the page title after the focused element was removed, so that keyboard users keep their position. */
export function focusTitle(): void {
  document.querySelector('h1')?.focus({ preventScroll: true });
}
