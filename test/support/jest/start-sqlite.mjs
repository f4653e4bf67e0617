import { start } from './start.mjs';

// Jest runs a setup file once, even if several projects name it. So each engine has a file of its own.
export default () => start('sqlite');
