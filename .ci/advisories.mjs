// Checks the installed packages of the service for known security advisories of the registry (`npm audit`).
//   node .ci/advisories.mjs
// The last line is the result: "advisories: none …", "advisories: N …" (exit code 1) or, if the registry does not
// support audits, "advisories: NOT CHECKED …" (exit code 0, or 1 with ADVISORIES=required).
import { spawnSync } from 'node:child_process';

const LEVELS = ['low', 'moderate', 'high', 'critical'];

/**
 * Evaluates an audit.
 * @param report the output of `npm audit --json`.
 * @returns the line to print, the number of advisories, and true if the audit worked.
 */
export function evaluateAudit(report) {
  let response;
  try {
    response = JSON.parse(report);
  } catch {
    return { checked: false, found: 0, line: 'advisories: NOT CHECKED (npm audit printed no report)' };
  }
  const counts = response?.metadata?.vulnerabilities;
  const packages = response?.metadata?.dependencies?.prod;
  if (response?.error !== undefined || typeof counts?.total !== 'number' || !(packages > 0)) {
    const { code, summary } = response?.error ?? {};
    const status = response?.statusCode && `status ${response.statusCode}`;
    const why = [code, status, summary, response?.message].find(Boolean) ?? 'no counts';
    return {
      checked: false,
      found: 0,
      line: `advisories: NOT CHECKED (the registry responded with ${String(why).slice(0, 200)})`,
    };
  }
  const levels = LEVELS.filter((level) => counts[level] > 0).map((level) => `${counts[level]} ${level}`);
  const names = Object.keys(response.vulnerabilities ?? {}).join(', ');
  return counts.total === 0
    ? { checked: true, found: 0, line: `advisories: none for ${packages} packages` }
    : {
        checked: true,
        found: counts.total,
        line: `advisories: ${counts.total} (${levels.join(', ')}): ${names}`,
      };
}

if (import.meta.filename === process.argv[1]) {
  const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
    encoding: 'utf8',
    timeout: 120_000,
  });
  const { checked, found, line } = evaluateAudit(stdout ?? '');
  console.log(line);
  process.exit(found > 0 || (!checked && process.env.ADVISORIES === 'required') ? 1 : 0);
}
