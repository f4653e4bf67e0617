import { Injectable } from '@nestjs/common';
import { findUserIds } from '../../audit/audit-names.service.js';
import { EMPTY_USER } from '../../users/model/user.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import { ImportRowsRepository } from './import-rows.repository.js';
import type { NamedUser, StagedRow } from './import-row.js';

/** Users that rows mention, such as managers and conflicting users, by UUID. */
export type People = ReadonlyMap<string, NamedUser>;

/** Finds the users that rows of a run mention, including users that the same run creates. */
@Injectable()
export class RunPeople {
  constructor(
    private readonly rows: ImportRowsRepository,
    private readonly directory: UserDirectory,
  ) {}

  async find(runId: string, rows: readonly StagedRow[]): Promise<People> {
    const uuids = rows.flatMap(({ user_uuid, changes, errors }) => [
      user_uuid ?? [],
      ...changes.list.map(findUserIds),
      ...errors.map(({ uuid }) => uuid ?? []),
    ]);
    const people = await this.directory.findByUuids([...new Set(uuids.flat())]);
    const created = await this.rows.findCreated(runId, [
      ...new Set(rows.flatMap(({ manager }) => manager ?? [])),
    ]);
    const planned = created.map(
      ({ user_uuid, changes }) => [user_uuid ?? '', { ...EMPTY_USER, ...changes.values }] as const,
    );
    return new Map<string, NamedUser>([...planned, ...people]);
  }
}
