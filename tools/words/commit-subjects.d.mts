/** Returns true unless a subject joins two statements. */
export function isOneTopic(subject: string): boolean;
