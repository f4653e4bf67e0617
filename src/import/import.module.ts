import { Module } from '@nestjs/common';
import { ApiKeysModule } from '../api-keys/api-keys.module.js';
import { AuditNames } from '../audit/audit-names.service.js';
import { AuditModule } from '../audit/audit.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { UsersModule } from '../users/users.module.js';
import { ImportFilesRepository } from './file/import-files.repository.js';
import { FileStore } from './file/file-store.js';
import { ImportPreviewController } from './import-preview.controller.js';
import { ImportPreview } from './mapping/import-preview.js';
import { ImportProfilesController } from './import-profiles.controller.js';
import { ImportsController } from './imports.controller.js';
import { ImportsService } from './imports.service.js';
import { RunFiles } from './file/run-files.js';
import { ImportProfiles } from './mapping/import-profiles.service.js';
import { ImportProfilesRepository } from './mapping/import-profiles.repository.js';
import { RunQueue } from './apply/run-queue.service.js';
import { RowUserLookup } from './plan/row-user-lookup.js';
import { FilePlanner } from './plan/file-planner.js';
import { PlanGuards } from './guards/plan-guards.service.js';
import { RunPlanner } from './plan/run-planner.js';
import { RevertPlanner } from './plan/revert-planner.js';
import { FailedRows } from './report/failed-rows.js';
import { ImportRowsRepository } from './runs/import-rows.repository.js';
import { RunEvents } from './report/run-events.js';
import { ImportSummary } from './report/import-summary.service.js';
import { UsersExport } from './report/users-export.js';
import { Applier } from './apply/applier.service.js';
import { RunExecutor } from './apply/run-executor.service.js';
import { ImportRunsRepository } from './runs/import-runs.repository.js';
import { ImportWorkerProcess, ImportWorker } from './apply/import-worker.service.js';
import { BulkChanges } from './apply/bulk-changes.service.js';
import { BulkPlanner } from './plan/bulk-planner.js';
import { RunTransitions } from './runs/run-transitions.service.js';
import { RunPeople } from './runs/run-people.service.js';
import { RunRights } from './runs/run-rights.service.js';
import { AlertSender } from './alerts/alert-sender.service.js';
import { Alerts } from './alerts/alerts.service.js';
import { ScheduleRequests } from './schedule/schedule-requests.service.js';
import { ScheduleController } from './import-schedule.controller.js';
import { ScheduleService } from './schedule/schedule.service.js';
import { UsersExportController } from './users-export.controller.js';

@Module({
  imports: [ApiKeysModule, AuditModule, SessionsModule, UsersModule],
  controllers: [
    ImportPreviewController,
    ImportProfilesController,
    ScheduleController,
    ImportsController,
    UsersExportController,
  ],
  providers: [
    ImportsService,
    FileStore,
    ImportWorkerProcess,
    ImportWorker,
    RunExecutor,
    RunQueue,
    RunPlanner,
    RunFiles,
    ImportProfiles,
    ImportProfilesRepository,
    ImportPreview,
    FilePlanner,
    RowUserLookup,
    RevertPlanner,
    BulkPlanner,
    BulkChanges,
    PlanGuards,
    Applier,
    ScheduleService,
    ScheduleRequests,
    AlertSender,
    Alerts,
    FailedRows,
    RunEvents,
    UsersExport,
    RunRights,
    RunPeople,
    RunTransitions,
    ImportRunsRepository,
    ImportRowsRepository,
    ImportFilesRepository,
    ImportSummary,
  ],
  exports: [ImportSummary, ImportsService],
})
export class ImportModule {
  constructor(names: AuditNames) {
    // A revert is listed with the file name of the run that it reverts.
    const name = "CASE WHEN reverts IS NULL THEN file_name ELSE CONCAT('revert of ', file_name) END";
    names.register(['import'], { table: 'import_runs', id: 'id', name });
    names.register(['import_profile'], { table: 'import_profiles', id: 'id', name: 'name' });
  }
}
