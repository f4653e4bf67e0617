/** The packages that the bundle does not hold, and so all that an installed Rollcall needs beside it. */
export const EXTERNALS = [
  '@node-rs/argon2', // machine code
  '@zxcvbn-ts/language-common', // 0.4 MiB of passwords, which few processes read
  'swagger-ui-dist', // it reads the files of Swagger UI beside itself
];
