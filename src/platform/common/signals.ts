/** Signals that shut the service down. A terminal or a supervisor may send them to all its processes. */
export const SHUTDOWN_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const;

/**
 * Exit codes and signals that count as an orderly end of a process. Signals are included, because a signal ends a process
 * that is still starting.
 */
export const CLEAN_EXITS: readonly string[] = ['0', ...SHUTDOWN_SIGNALS, 'SIGUSR1'];

/** Flag of Node.js with which SIGUSR1 opens no inspector, not even before the program has loaded. */
export const NO_INSPECTOR = '--disable-sigusr1';
