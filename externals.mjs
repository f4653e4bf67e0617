/** Packages that are not bundled, and so the only dependencies of an installed Rollcall. */
export const EXTERNALS = [
  '@node-rs/argon2', // native code
  '@zxcvbn-ts/language-common', // 0.4 MiB of passwords, which only few processes load
  'swagger-ui-dist', // static files that Swagger UI loads
];
