/**
 * Waits for statements that do not need each other's answers: on MariaDB the next is made ready while the server works
 * on the last. All of them have ended when it throws the first error, so that a rollback comes after the last of them.
 */
export async function together(statements: readonly Promise<unknown>[]): Promise<void> {
  const ends = await Promise.allSettled(statements);
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}
