import { start } from './start.mjs';

export default () => start('mariadb');
