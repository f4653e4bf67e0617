/** The oldest Node.js that runs this program, as `engines` of package.json. It is the first whose SQLite loses no commits. */
export const NEEDED_NODE = '22.23';

/** @param version such as `24.21.0`. */
export const isNodeNewEnough = (version: string): boolean =>
  version.localeCompare(NEEDED_NODE, 'en', { numeric: true }) >= 0;
