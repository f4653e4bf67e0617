// Compares the packages that are installed with the service with the known advisories of the registry (`npm audit`).
//   node .ci/advisories.mjs
// The last line says what came out: "advisories: none …", "advisories: N …" (exit code 1) or, where the registry does not
// answer such questions, "advisories: NOT CHECKED …" (exit code 0, or 1 with ADVISORIES=required).
import { spawnSync } from 'node:child_process';

const LEVELS = ['low', 'moderate', 'high', 'critical'];

/** @param report what `npm audit --json` printed. @returns the line to print, and whether advisories were looked up. */
export function verdict(report) {
  let answer;
  try {
    answer = JSON.parse(report);
  } catch {
    return { checked: false, found: 0, line: 'advisories: NOT CHECKED (npm audit printed no report)' };
  }
  const counts = answer?.metadata?.vulnerabilities;
  const packages = answer?.metadata?.dependencies?.prod;
  if (answer?.error !== undefined || typeof counts?.total !== 'number' || !(packages > 0)) {
    const { code, summary } = answer?.error ?? {};
    const status = answer?.statusCode && `status ${answer.statusCode}`;
    const why = [code, status, summary, answer?.message].find(Boolean) ?? 'no counts in its answer';
    return {
      checked: false,
      found: 0,
      line: `advisories: NOT CHECKED (the registry answers: ${String(why).slice(0, 200)})`,
    };
  }
  const levels = LEVELS.filter((level) => counts[level] > 0).map((level) => `${counts[level]} ${level}`);
  const names = Object.keys(answer.vulnerabilities ?? {}).join(', ');
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
  const { checked, found, line } = verdict(stdout ?? '');
  console.log(line);
  process.exit(found > 0 || (!checked && process.env.ADVISORIES === 'required') ? 1 : 0);
}
