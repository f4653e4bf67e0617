import type { GuardDefinition } from './guard.js';
import { afterRevert } from './after-revert.js';
import { changedField } from './changed-field.js';
import { changedForm } from './changed-form.js';
import { changedLoginsOnly } from './changed-logins-only.js';
import { changedLogins } from './changed-logins.js';
import { changedManagers } from './changed-managers.js';
import { created } from './created.js';
import { deactivations } from './deactivations.js';
import { emptiedField } from './emptied-field.js';
import { errors } from './errors.js';
import { exchangedValues } from './exchanged-values.js';
import { foreignDataset } from './foreign-dataset.js';
import { garbledText } from './garbled-text.js';
import { lostTogether } from './lost-together.js';
import { oldFile } from './old-file.js';
import { otherPerson } from './other-person.js';
import { reactivations } from './reactivations.js';
import { roleHolders } from './role-holders.js';
import { shuffledColumn } from './shuffled-column.js';
import { slidColumn } from './slid-column.js';
import { unknownWord } from './unknown-word.js';

/** All guards of imports (interface §6). The guard that says most about an accident comes first. */
export const GUARDS: readonly GuardDefinition[] = [
  foreignDataset,
  oldFile,
  afterRevert,
  otherPerson,
  slidColumn,
  shuffledColumn,
  exchangedValues,
  unknownWord,
  garbledText,
  changedForm,
  lostTogether,
  deactivations,
  reactivations,
  created,
  roleHolders,
  changedLoginsOnly,
  changedLogins,
  changedManagers,
  emptiedField,
  changedField,
  errors,
];

/** The guards of bulk changes. */
export const BULK_GUARDS: readonly GuardDefinition[] = [
  { ...deactivations, hint: 'Many users would lose access. Check them before you approve.' },
  { ...reactivations, hint: 'Many blocked users would get access again. Check them before you approve.' },
];
