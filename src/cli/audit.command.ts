import { Command, InvalidArgumentError } from 'commander';
import type { AuditEventDto } from '../audit/audit.view.js';
import { AuditQuery } from '../audit/audit.query.js';
import type { AuditReport } from '../audit/seal-verifier.service.js';
import { truncate } from '../platform/common/text.js';
import type { Application } from './application.js';
import { EXIT, formatParty, print, toTable } from './output.js';
import { type Target, toQuery, createCommand } from './target.js';

const MAX_CHANGES_LENGTH = 80;
const EXIT_CODES = `
Exit codes of verify: 0 all sealed events match their seals, 1 a fault was found, 2 nothing verified.
Exit codes of list: 0 done, 2 nothing done (invalid usage, no database or service).`;

export const createAuditCommand = (application: Application) =>
  new Command('audit')
    .description('list audit events, and verify that they were not changed')
    .addHelpText('afterAll', EXIT_CODES)
    .addCommand(createListCommand(application))
    .addCommand(createVerifyCommand(application));

const createListCommand = (application: Application) =>
  createCommand('list', 'list events, newest first')
    .option('--actor <id>', 'id of the user, API key or import that caused the event')
    .option('--actor-kind <kind>', 'kind of actor: key, user, import, system or anonymous')
    .option('--action <action...>', 'only events with one of these actions, such as user.blocked')
    .option('--target <id>', 'id of the affected user, group, session, API key or import')
    .option('--field <name>', 'name of a changed field')
    .option('--since <time>', 'only events at or after this time, such as 2026-01-31 or 2026-01-31T12:00:00Z')
    .option('--until <time>', 'only events before this time')
    .option('--limit <number>', 'number of events, at most 100', '25')
    .option('--after <id>', 'only events older than the event with this id')
    .action((flags: Target, command: Command) => {
      const query = toQuery(AuditQuery, flags, command);
      return application.runWithClient(flags, async (service) => {
        const { Results, next } = await service.getPage<{ Results: AuditEventDto[] }>('audit', query);
        print(flags, Results, toTable([HEAD, ...Results.map(toCells)]));
        if (next !== undefined && !flags.json) process.stderr.write(`Next page: --after ${next}\n`);
      });
    });

const createVerifyCommand = (application: Application) =>
  new Command('verify')
    .description('compare all events with their seals')
    .option('--expect <number:hash>', 'number and hash of a seal stored outside the service', parseExpected)
    .option('--json', 'print as JSON')
    .action(async (flags: { json?: true; expect?: { number: number; hash: string } }) => {
      const verdict = await application.verifyAudit(flags, flags.expect);
      print(flags, verdict, formatReport(verdict));
      if (verdict.fault) process.exitCode = EXIT.someFailed;
    });

const HEAD = ['TIME (UTC)', 'ACTION', 'ACTOR', 'TARGET', 'ADDRESS', 'CHANGES'];

function toCells({ time, action, actor, target, ip, changes, reason }: AuditEventDto): string[] {
  const people = [actor.started_by, actor.approved_by].flatMap((party) =>
    party ? [formatParty(party)] : [],
  );
  const who = people.length === 0 ? formatParty(actor) : `${formatParty(actor)} (${people.join(', ')})`;
  const fields = changes.map(({ field }) => field).join(', ');
  const what = [fields, reason && `“${reason}”`].filter(Boolean).join(' ');
  const when = time.slice(0, 19).replace('T', ' ');
  return [when, action, who, formatParty(target), ip, truncate(what, MAX_CHANGES_LENGTH)];
}

function formatReport(report: AuditReport): string {
  const { late, purged, newest, bad_count: badCount } = report;
  if (report.fault) {
    const { seal, from, until, message } = report.fault;
    const start = from?.slice(0, 16) ?? 'the beginning';
    const range = until === null ? '' : ` (events of ${start} to ${until.slice(0, 16)} UTC)`;
    const others = report.bad.map(({ id, message: why }) => `     ${id} ${why}.\n`).join('');
    const count = badCount === 0 ? '' : `     ${badCount} faulty events:\n${others}`;
    return `BAD  ${seal === undefined ? 'audit' : `seal ${seal}`}${range}: ${message}.\n${count}`;
  }
  const deletable = purged > 0 ? `, of which the first ${purged} are past their retention time` : '';
  const lines = [
    report.rows === 0 && purged === 0
      ? 'NONE No event is sealed yet. The service seals the events of each hour after its end.'
      : `OK   ${report.rows} events match their seals (${report.seals} seals${deletable}).`,
  ];
  if (late > 0)
    lines.push(`     ${late} events were stored after their hour was sealed, so a later seal covers them.`);
  lines.push(`     ${report.unsealed} events are not sealed yet.`);
  if (newest) {
    const created = `created ${newest.sealed.slice(0, 16)} UTC ${newest.keyed ? 'with' : 'without'} a key`;
    lines.push(`     Newest seal: ${newest.number}:${newest.hash}, ${created}.`);
  }
  return `${lines.join('\n')}\n`;
}

function parseExpected(text: string): { number: number; hash: string } {
  const [, number, hash] = /^([1-9]\d{0,8}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (number === undefined || hash === undefined)
    throw new InvalidArgumentError('Pass a number and a hash as printed by verify, such as 7:0f3a….');
  return { number: Number(number), hash };
}
