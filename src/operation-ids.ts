/**
 * The `operationId` of every route, by its controller and method: what generators of clients call its function.
 * Chosen by hand and never changed, because programs on generated clients would break.
 */
const OPERATION_IDS: Readonly<Record<string, string>> = {
  'UsersController.create': 'createUser',
  'UsersController.me': 'getCurrentUser',
  'UsersController.search': 'searchUsers',
  'UsersController.get': 'getUser',
  'UsersController.change': 'updateUser',
  'UsersExportController.export': 'exportUsers',
  'DeletedUsersController.list': 'listDeletedUsers',
  'RolesController.list': 'listRoles',
  'UserRestoreController.restore': 'restoreUser',
  'UserHistoryController.list': 'listUserHistory',
  'UserSessionsController.endAll': 'endUserSessions',
  'ImportsController.upload': 'startImport',
  'ImportsController.list': 'listImports',
  'ImportsController.get': 'getImport',
  'ImportsController.rows': 'listImportRows',
  'ImportsController.failed': 'downloadFailedRows',
  'ImportsController.events': 'watchImport',
  'ImportsController.template': 'downloadImportTemplate',
  'ImportsController.apply': 'applyImport',
  'ImportsController.cancel': 'cancelImport',
  'ImportsController.reject': 'rejectImport',
  'ImportsController.revert': 'revertImport',
  'ImportPreviewController.preview': 'previewImport',
  'ImportProfilesController.list': 'listImportProfiles',
  'ImportProfilesController.get': 'getImportProfile',
  'ImportProfilesController.put': 'saveImportProfile',
  'ImportProfilesController.remove': 'deleteImportProfile',
  'SessionsController.login': 'logIn',
  'SessionsController.logout': 'logOut',
  'SessionsController.list': 'listSessions',
  'SessionsController.end': 'endSession',
  'ApiKeysController.list': 'listApiKeys',
  'ApiKeysController.create': 'createApiKey',
  'ApiKeysController.revoke': 'revokeApiKey',
  'KeyFuseController.reset': 'resetApiKeyFuse',
  'AuditController.list': 'listAuditEvents',
  'AuditController.file': 'exportAuditEvents',
  'AuditSealsController.list': 'listAuditSeals',
  'GroupsController.list': 'listGroups',
  'GroupsController.get': 'getGroup',
  'GroupsController.setRoles': 'setGroupRoles',
  'ScimUsersController.list': 'listScimUsers',
  'ScimUsersController.search': 'searchScimUsers',
  'ScimUsersController.create': 'createScimUser',
  'ScimUsersController.get': 'getScimUser',
  'ScimUsersController.replace': 'replaceScimUser',
  'ScimUsersController.patch': 'patchScimUser',
  'ScimUsersController.delete': 'deleteScimUser',
  'ScimGroupsController.list': 'listScimGroups',
  'ScimGroupsController.search': 'searchScimGroups',
  'ScimGroupsController.create': 'createScimGroup',
  'ScimGroupsController.get': 'getScimGroup',
  'ScimGroupsController.replace': 'replaceScimGroup',
  'ScimGroupsController.patch': 'patchScimGroup',
  'ScimGroupsController.delete': 'deleteScimGroup',
  'SearchController.find': 'listScimResources',
  'SearchController.findByPost': 'searchScimResources',
  'BulkController.run': 'runScimBulk',
  'DiscoveryController.config': 'getScimConfig',
  'DiscoveryController.types': 'listScimResourceTypes',
  'DiscoveryController.type': 'getScimResourceType',
  'DiscoveryController.schemas': 'listScimSchemas',
  'DiscoveryController.schema': 'getScimSchema',
  'StatusController.status': 'getStatus',
  'StatisticsController.read': 'getStatistics',
  'HealthController.live': 'checkLiveness',
  'HealthController.ready': 'checkReadiness',
  'MetricsController.read': 'getMetrics',
};

/**
 * The `operationId` of a route.
 * @param controller the name of its class; the bundler numbers those that are decorated.
 * @throws Error for a route that has none: its name has to be chosen.
 */
export function operationId(controller: string, method: string): string {
  const route = `${controller.replace(/\d+$/, '')}.${method}`;
  const id = OPERATION_IDS[route];
  if (id === undefined) throw new Error(`${route} has no operationId`);
  return id;
}
