import { Command, InvalidArgumentError } from 'commander';
import type { AuditEventDto } from '../audit/audit.view.js';
import { AuditQuery } from '../audit/audit.query.js';
import type { Verdict } from '../audit/seal-verifier.service.js';
import { truncated } from '../platform/common/text.js';
import type { Application } from './application.js';
import { partyOf, print, table } from './output.js';
import { type Target, queryOf, targetCommand } from './target.js';

const FAULT = 1;
const MAX_CHANGES = 80;
const EXIT_CODES = `
Exit codes of verify: 0 the audit fits its seals, 1 it does not. Otherwise: 0 done, 2 nothing done (wrong usage, no database).`;

export const auditCommand = (application: Application) =>
  new Command('audit')
    .description('who did what, and whether that was changed afterwards')
    .addHelpText('afterAll', EXIT_CODES)
    .addCommand(list(application))
    .addCommand(verify(application));

const list = (application: Application) =>
  targetCommand('list', 'events, newest first')
    .option('--actor <id>', 'who did it; also who started or approved an import')
    .option('--actor-kind <kind>', 'key, user, import, system or anonymous')
    .option('--action <action...>', 'such as user.blocked; several mean any of them')
    .option('--target <id>', 'what it was done to')
    .option('--field <name>', 'a field that was changed')
    .option('--since <time>', 'at this time or later: 2026-01-31 or 2026-01-31T12:00:00Z')
    .option('--until <time>', 'before this time')
    .option('--limit <number>', 'events, at most 100', '25')
    .option('--after <id>', 'older than this event')
    .action((flags: Target, command: Command) => {
      const query = queryOf(AuditQuery, flags, command);
      return application.use(flags, async (service) => {
        const { Results, next } = await service.page<{ Results: AuditEventDto[] }>('audit', query);
        print(flags, Results, table([HEAD, ...Results.map(cells)]));
        if (next !== undefined && !flags.json) process.stderr.write(`There are more: --after ${next}\n`);
      });
    });

const verify = (application: Application) =>
  new Command('verify')
    .description('compare all events with the seals over them')
    .option(
      '--expect <number:hash>',
      'a seal that was kept elsewhere, such as in the log of another machine',
      parseExpected,
    )
    .option('--json', 'as JSON')
    .action(async (flags: { json?: true; expect?: { number: number; hash: string } }) => {
      const verdict = await application.verifyAudit(flags, flags.expect);
      print(flags, verdict, report(verdict));
      if (verdict.fault) process.exitCode = FAULT;
    });

const HEAD = ['TIME (UTC)', 'ACTION', 'ACTOR', 'TARGET', 'ADDRESS', 'CHANGES'];

function cells({ time, action, actor, target, ip, changes, reason }: AuditEventDto): string[] {
  const people = [actor.started_by, actor.approved_by].flatMap((party) => (party ? [partyOf(party)] : []));
  const who = people.length === 0 ? partyOf(actor) : `${partyOf(actor)} (${people.join(', ')})`;
  const fields = changes.map(({ field }) => field).join(', ');
  const what = [fields, reason && `“${reason}”`].filter(Boolean).join(' ');
  return [
    time.slice(0, 19).replace('T', ' '),
    action,
    who,
    `${target.kind} ${target.id}`,
    ip,
    truncated(what, MAX_CHANGES),
  ];
}

/** What was compared, and what does not fit. */
function report({ seals, rows, late, purged, unsealed, newest, fault, bad_count, bad }: Verdict): string {
  if (fault) {
    const { seal, from, until, message } = fault;
    const range =
      until === null
        ? ''
        : ` (events of ${from?.slice(0, 16) ?? 'the beginning'} to ${until.slice(0, 16)} UTC)`;
    const others = bad.map(({ id, message: why }) => `     ${id} ${why}.\n`).join('');
    const count = bad_count === 0 ? '' : `     ${bad_count} events do not fit one by one:\n${others}`;
    return `BAD  ${seal === undefined ? 'audit' : `seal ${seal}`}${range}: ${message}.\n${count}`;
  }
  const lines = [
    `OK   ${rows} events fit their seals (${seals} seals${purged > 0 ? `, the first ${purged} of deleted events` : ''}).`,
    ...(late > 0
      ? [`     ${late} of them became visible after the seal of their hour, and a later seal covers them.`]
      : []),
    `     ${unsealed} events are not sealed yet.`,
    ...(newest
      ? [
          `     Newest seal: ${newest.number}:${newest.hash}, made ${newest.sealed.slice(0, 16)} UTC ${newest.keyed ? 'with' : 'without'} a key.`,
        ]
      : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** @throws InvalidArgumentError */
function parseExpected(text: string): { number: number; hash: string } {
  const [, number, hash] = /^([1-9]\d{0,8}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (number === undefined || hash === undefined)
    throw new InvalidArgumentError('It must be a number and a hash, as verify prints them: 7:0f3a….');
  return { number: Number(number), hash };
}
