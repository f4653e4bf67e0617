import { start } from './start.mjs';

// Jest runs a setup file once, even if several projects name it. Therefore each engine has its own file.
export default () => start('sqlite');
