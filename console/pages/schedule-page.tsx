import { api, unwrap } from '../api/client.js';
import type { components } from '../api/generated.js';
import { useAction, useInterval, useResource } from '../api/resource.js';
import { addScheduledFile } from '../api/upload.js';
import { formatCount, formatSize, showFileName } from '../lib/text.js';
import { Button } from '../parts/button.js';
import { DropZone } from '../parts/drop-zone.js';
import { Card, FactList, Page, TableCard } from '../parts/page.js';
import { ProblemNote } from '../parts/problem-note.js';
import type { Column } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { showToast } from '../parts/toast.js';
import { RunsCard } from './import/runs-card.js';

type Schedule = components['schemas']['ScheduleDto'];

const RELOAD_MILLIS = 5000;

const loadSchedule = async (signal: AbortSignal): Promise<Schedule> =>
  (await unwrap(api.GET('/api/0.3/imports/schedule', { signal }))).data;

/** Takes the complete files now, and reports the files that are imported or refused. */
async function takeFiles(): Promise<void> {
  const { Results: files } = (await unwrap(api.POST('/api/0.3/imports/scheduled'))).data;
  const refused = files.filter(({ run }) => run === null).map(({ name, reason }) => `${name}: ${reason}`);
  const count = files.length - refused.length;
  const taken = count > 0 ? `${formatCount(count, 'file')} will be imported.` : 'No file was imported.';
  showToast([taken, ...refused].join(' '));
}

const FILES: readonly Column<Schedule['files'][number]>[] = [
  { title: 'File', cell: ({ name }) => name },
  { title: 'Why it waits', cell: ({ reason }) => reason },
  { title: 'Size', isNumber: true, cell: ({ size }) => size !== null && formatSize(size) },
  { title: 'Changed', cell: ({ modified }) => modified && <Time at={modified} /> },
];

/** The schedule: its times, the waiting files in its folder, and the last import of each data set. */
export function SchedulePage() {
  const { data, problem, reload } = useResource('schedule', loadSchedule);
  useInterval(RELOAD_MILLIS, reload);
  const action = useAction();
  const run = (work: () => Promise<void>) => void action.run(work).then(reload);
  const folder = data?.folder;
  return (
    <Page
      title="Schedule"
      lead="Files in the drop folder are imported at fixed times."
      actions={
        folder && (
          <Button text="Import now" kind="primary" isBusy={action.isBusy} onClick={() => run(takeFiles)} />
        )
      }
    >
      <div class="stack">
        <ProblemNote problem={problem} />
        <ProblemNote problem={action.problem} />
        {data && (folder ? <Facts schedule={data} /> : <NoSchedule />)}
        {folder && (
          <TableCard
            title="Waiting files"
            columns={FILES}
            rows={data.files}
            getKey={({ name }) => name}
            empty="No files are waiting."
          />
        )}
        {data && <RunsCard title="Last import of each data set" runs={data.datasets} />}
        {folder && (
          <Card title="Upload into the folder">
            <DropZone
              text="Drop a CSV file here, or"
              onFiles={([file]) =>
                run(async () => {
                  await addScheduledFile(file);
                  showToast(
                    `${showFileName(file.name)} was added. It is imported at the next check of the folder, or with Import now.`,
                  );
                })
              }
            />
          </Card>
        )}
      </div>
    </Page>
  );
}

function Facts({ schedule }: { schedule: Schedule }) {
  const { folder, pattern, cron, time_zone: zone, fault, overdue_hours: hours } = schedule;
  const { next_tick: next, last_tick: last } = schedule;
  return (
    <Card title="Settings">
      {fault && <p class="note bad">The service cannot use the folder: {fault}. Files are not imported.</p>}
      <FactList
        facts={[
          ['Folder', folder],
          ['File names', <code key="">{pattern}</code>],
          ['Times', `${cron} (${zone})`],
          ['Next check', next ? <Time key="" at={next} /> : 'never'],
          ['Last check', last ? <Time key="" at={last} /> : 'none yet'],
          [
            'Overdue',
            hours === null
              ? 'never (IMPORT_OVERDUE_HOURS is not set)'
              : `after ${formatCount(hours, 'hour')}`,
          ],
        ]}
      />
    </Card>
  );
}

const NoSchedule = () => (
  <p class="note info">
    <span>
      No schedule is set. The operator of the machine sets <code>IMPORT_FOLDER</code> and{' '}
      <code>IMPORT_CRON</code> and restarts the service. See{' '}
      <a href="/guides/imports#schedule" target="_blank" rel="noreferrer">
        the guide on imports
      </a>
      .
    </span>
  </p>
);
