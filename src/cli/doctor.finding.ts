/** What a check found. `say` tells what it means and, unless all is well, what to do. */
export interface Finding {
  level: 'ok' | 'warn' | 'fail';
  what: string;
  say: string;
}
