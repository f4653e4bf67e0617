import type { ImportProfile } from '../runs/import-profile.js';

/** Maps words of two comma-separated lists to Active and Blocked. */
export const buildStatusMap = (active: string, blocked: string): Record<string, string> =>
  Object.fromEntries([
    ...active.split(', ').map((word) => [word, 'Active'] as const),
    ...blocked.split(', ').map((word) => [word, 'Blocked'] as const),
  ]);

/**
 * Maps names to built-in profiles, without the options that all of them share (`BUILT_IN`). A saved profile with the
 * same name takes precedence.
 */
export const BUILT_IN_PROFILES: Readonly<Record<string, ImportProfile>> = {
  /**
   * Moodle: files from Site administration → Users → Bulk user actions → Download, and files in the format of Upload
   * users.
   */
  moodle: {
    columns: {
      username: 'Username',
      email: 'Email',
      firstname: 'ForeName',
      lastname: 'Surname',
      middlename: 'MiddleName',
      phone1: 'Phone',
      phone2: 'Mobile',
      suspended: 'Status',
      deleted: 'Status',
      auth: 'Status',
      password: 'ignore',
    },
    set: { ExternalId: '{username}' },
    values: {
      suspended: { '0': 'Active', '1': 'Blocked' },
      deleted: { '0': '', '1': 'Blocked' },
      auth: { nologin: 'Blocked', '*': '' },
    },
  },
  /** Canvas: `users.csv` in the SIS import format, and the file of the provisioning report. */
  canvas: {
    columns: {
      user_id: 'ExternalId',
      login_id: 'Username',
      email: 'Email',
      first_name: 'ForeName',
      last_name: 'Surname',
      short_name: 'KnownAs',
      status: 'Status',
      password: 'ignore',
      ssha_password: 'ignore',
    },
    values: { status: { active: 'Active', suspended: 'Blocked', deleted: 'Blocked' } },
  },
  /**
   * Google: files from Admin console → Directory → Users → Download users. The email address is the only identifier in
   * this export.
   */
  google: {
    columns: {
      'First Name [Required]': 'ForeName',
      'Last Name [Required]': 'Surname',
      'Email Address [Required]': 'Email',
      'Status [READ ONLY]': 'Status',
      'Work Phone': 'Phone',
      'Mobile Phone': 'Mobile',
      'Password [Required]': 'ignore',
    },
    set: {
      ExternalId: '{Email Address [Required]:lower}',
      Username: '{Email Address [Required]:lower}',
      Manager: '{Manager Email:lower}',
    },
    values: { 'Status [READ ONLY]': { Active: 'Active', Suspended: 'Blocked', Archived: 'Blocked' } },
  },
  /**
   * Microsoft 365: files from Admin center → Active users → Export users, and files in the template of Add multiple
   * users.
   */
  microsoft365: {
    columns: {
      'First name': 'ForeName',
      'Last name': 'Surname',
      'Phone number': 'Phone',
      'Office phone': 'Phone',
      'Mobile Phone': 'Mobile',
      'Block credential': 'Status',
      'Soft deletion time stamp': 'Status',
    },
    set: {
      ExternalId: '{Object Id|User name}',
      Username: '{User principal name|User name}',
      Email: '{User principal name|User name}',
    },
    values: {
      'Block credential': { false: 'Active', true: 'Blocked' },
      'Soft deletion time stamp': { '*': 'Blocked' },
    },
  },
  /**
   * Microsoft Entra: files from Entra admin center → Users → Download users. Older exports have the columns `objectId`
   * and `mobile`.
   */
  entra: {
    columns: {
      userPrincipalName: 'Username',
      givenName: 'ForeName',
      surname: 'Surname',
      telephoneNumber: 'Phone',
      mobilePhone: 'Mobile',
      mobile: 'Mobile',
      accountEnabled: 'Status',
    },
    set: { ExternalId: '{id|objectId}', Email: '{mail|userPrincipalName}' },
    values: { accountEnabled: { true: 'Active', false: 'Blocked' } },
  },
  /**
   * Okta: files whose columns have the names of a user profile (`firstName`) or of the reports in the admin console
   * (`First name`).
   */
  okta: {
    columns: {
      firstName: 'ForeName',
      lastName: 'Surname',
      middleName: 'MiddleName',
      nickName: 'KnownAs',
      primaryPhone: 'Phone',
      mobilePhone: 'Mobile',
      status: 'Status',
      'User status': 'Status',
      'Okta user status': 'Status',
    },
    set: {
      ExternalId: '{id|User ID|Okta user ID}',
      Username: '{login|Username|Okta username}',
      Email: '{email|Primary email}',
    },
    values: {
      Status: buildStatusMap(
        'ACTIVE, PROVISIONED, Pending user action, RECOVERY, Password reset, PASSWORD_EXPIRED, Password expired, LOCKED_OUT, Locked out',
        'STAGED, SUSPENDED, DEPROVISIONED, Deactivated',
      ),
    },
  },
  /**
   * Auth0: users exported as CSV, in which every text begins with an apostrophe. The columns have the names of the API or
   * of the export extension.
   */
  auth0: {
    strip_prefix: "'",
    columns: {
      email: 'Email',
      given_name: 'ForeName',
      family_name: 'Surname',
      nickname: 'KnownAs',
      phone_number: 'Phone',
      blocked: 'Status',
    },
    set: { ExternalId: '{user_id|Id}', Username: '{username|email}' },
    values: { blocked: { true: 'Blocked', false: 'Active', '': 'Active' } },
  },
  /** OneRoster 1.1: `users.csv`, complete (bulk, where `status` is blank) or with changes only (delta). */
  oneroster: {
    columns: {
      sourcedId: 'ExternalId',
      username: 'Username',
      email: 'Email',
      givenName: 'ForeName',
      familyName: 'Surname',
      middleName: 'MiddleName',
      phone: 'Phone',
      sms: 'Mobile',
      enabledUser: 'Status',
      status: 'Status',
      password: 'ignore',
    },
    values: {
      enabledUser: { true: 'Active', false: 'Blocked' },
      status: { active: '', tobedeleted: 'Blocked' },
    },
  },
};
