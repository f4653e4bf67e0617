/** Runs test files in the order in which MUTANTS_ORDER names them: the fastest first. */
export default class {
  sort(tests) {
    const order = JSON.parse(process.env.MUTANTS_ORDER ?? '[]');
    const find = ({ path }) => order.findIndex((file) => path.endsWith(`/${file}`));
    return [...tests].sort((a, b) => find(a) - find(b));
  }

  cacheResults() {}
}
