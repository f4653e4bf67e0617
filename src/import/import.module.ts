import { Module } from '@nestjs/common';
import { ApiKeysModule } from '../api-keys/api-keys.module.js';
import { AuditNames } from '../audit/audit-names.service.js';
import { AuditModule } from '../audit/audit.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { UsersModule } from '../users/users.module.js';
import { ImportFilesRepository } from './file/import-files.repository.js';
import { ImportStore } from './file/import-store.js';
import { ImportPreviewController } from './import-preview.controller.js';
import { ImportPreview } from './mapping/import-preview.js';
import { ImportProfilesController } from './import-profiles.controller.js';
import { ImportsController } from './imports.controller.js';
import { ImportsService } from './imports.service.js';
import { RunFiles } from './file/run-files.js';
import { ImportProfiles } from './mapping/import-profiles.service.js';
import { ImportProfilesRepository } from './mapping/import-profiles.repository.js';
import { ImportRequests } from './mapping/requested-options.js';
import { RowFacts } from './plan/row-facts.js';
import { FilePlanner } from './plan/file-planner.js';
import { PlanGuards } from './guards/plan-guards.service.js';
import { Planner } from './plan/planner.js';
import { RevertPlanner } from './plan/revert-planner.js';
import { FailedRows } from './report/failed-rows.js';
import { ImportReportRepository } from './report/import-report.repository.js';
import { RunRows } from './report/run-rows.js';
import { RunEvents } from './report/run-events.js';
import { RunWatchers } from './report/run-watchers.js';
import { ImportSummary } from './report/import-summary.service.js';
import { UsersExport } from './report/users-export.js';
import { Applier } from './apply/applier.service.js';
import { FuseGuard } from './apply/fuse-guard.service.js';
import { ImportRowsRepository } from './runs/import-rows.repository.js';
import { ImportRunsRepository } from './runs/import-runs.repository.js';
import { WaitingRuns } from './apply/waiting-runs.service.js';
import { RunTransitions } from './runs/run-transitions.service.js';
import { RunRights } from './runs/run-rights.service.js';
import { ImportLane } from './apply/import-lane.js';
import { ImportWorker } from './apply/import-worker.service.js';
import { LeasesModule } from '../platform/database/leases/leases.module.js';
import { RunProcess } from './apply/run-process.service.js';
import { RunQueue } from './apply/run-queue.service.js';
import { AlertSender } from './alerts/alert-sender.service.js';
import { Alerts } from './alerts/alerts.service.js';
import { ScheduleService } from './schedule/schedule.service.js';
import { UsersExportController } from './users-export.controller.js';

@Module({
  imports: [ApiKeysModule, AuditModule, LeasesModule, SessionsModule, UsersModule],
  controllers: [ImportPreviewController, ImportProfilesController, ImportsController, UsersExportController],
  providers: [
    ImportsService,
    ImportStore,
    ImportLane,
    ImportWorker,
    WaitingRuns,
    RunProcess,
    FuseGuard,
    RunQueue,
    Planner,
    RunFiles,
    ImportProfiles,
    ImportProfilesRepository,
    ImportRequests,
    ImportPreview,
    FilePlanner,
    RowFacts,
    RevertPlanner,
    PlanGuards,
    Applier,
    ScheduleService,
    AlertSender,
    Alerts,
    FailedRows,
    RunEvents,
    RunWatchers,
    UsersExport,
    RunRights,
    RunTransitions,
    ImportRunsRepository,
    ImportRowsRepository,
    ImportFilesRepository,
    ImportReportRepository,
    RunRows,
    ImportSummary,
  ],
  exports: [
    ImportSummary,
    ImportPreview,
    ImportProfiles,
    ImportRequests,
    ImportsService,
    ImportStore,
    RunQueue,
    RunEvents,
    UsersExport,
  ],
})
export class ImportModule {
  constructor(names: AuditNames) {
    // What undoes a run has the file of that run.
    const name = "CASE WHEN reverts IS NULL THEN file_name ELSE CONCAT('revert of ', file_name) END";
    names.add(['import'], { table: 'import_runs', id: 'id', name });
    names.add(['import_profile'], { table: 'import_profiles', id: 'id', name: 'name' });
  }
}
