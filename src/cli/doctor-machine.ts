import { access, constants, mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Env } from '../config/env.js';
import { scheduleOptions } from '../import/schedule/schedule.service.js';
import { type Finding, codeOf, fail, ok, warn } from './doctor-finding.js';

/** `engines` of package.json. */
const NEEDED_NODE = [20, 19] as const;
const LOW_BYTES = 1024 ** 3;
const LOOPBACK = /^(127\.|localhost$|::1$)/;

/** @param running such as `20.19.0`. */
export function nodeCheck(running: string): Finding[] {
  const [major = 0, minor = 0] = running.split('.').map(Number);
  const fits = major > NEEDED_NODE[0] || (major === NEEDED_NODE[0] && minor >= NEEDED_NODE[1]);
  const say = `version ${running}`;
  return fits ? ok('node', say) : fail('node', `${say}; install ${NEEDED_NODE.join('.')} or later`);
}

/** Really writes: permissions alone do not tell of a read-only mount. */
export async function dataDirCheck({ DATA_DIR }: Env): Promise<Finding[]> {
  const probe = join(DATA_DIR, `.doctor-${process.pid}`);
  try {
    await mkdir(DATA_DIR, { recursive: true, mode: 0o700 });
    await writeFile(probe, '');
    await rm(probe);
    return ok('data folder', `${DATA_DIR} can be written to`);
  } catch (error) {
    return fail(
      'data folder',
      `${DATA_DIR} cannot be written to (${codeOf(error)}); change its owner, or DATA_DIR`,
    );
  }
}

export async function diskCheck({ DATA_DIR }: Env): Promise<Finding[]> {
  try {
    const { bavail, bsize } = await statfs(DATA_DIR);
    const free = `${((bavail * bsize) / 1024 ** 3).toFixed(1)} GiB free`;
    return bavail * bsize < LOW_BYTES
      ? warn('disk', `${free}; make room before it runs full`)
      : ok('disk', free);
  } catch (error) {
    return warn('disk', `cannot be measured (${codeOf(error)})`);
  }
}

export function baseUrlCheck({ HOST, baseUrl }: Env): Finding[] {
  const { protocol, host, pathname } = new URL(baseUrl); // without a password that stands in it
  const address = `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
  if (LOOPBACK.test(HOST) || protocol === 'https:') return ok('address', address);
  return warn(
    'address',
    `${address} is not https, and HOST=${HOST} is reachable from outside: passwords and keys travel in the clear; ` +
      'put a proxy with TLS in front and set BASE_URL to its address',
  );
}

export async function importFolderCheck(env: Env): Promise<Finding[]> {
  const { IMPORT_FOLDER } = env;
  try {
    scheduleOptions(env);
  } catch (error) {
    return fail('imports', error instanceof Error ? error.message : '');
  }
  if (IMPORT_FOLDER === undefined) return ok('imports', 'no schedule (IMPORT_FOLDER is not set)');
  try {
    await access(IMPORT_FOLDER, constants.R_OK | constants.W_OK | constants.X_OK);
    return ok('imports', `${IMPORT_FOLDER} can be read and written`);
  } catch (error) {
    return fail(
      'imports',
      `${IMPORT_FOLDER} cannot be used (${codeOf(error)}); make it, and give it to the service's user`,
    );
  }
}
