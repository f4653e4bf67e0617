import { Presets, SingleBar } from 'cli-progress';

/** Shows on standard error how many of a number of rows are done: as a bar on a terminal, elsewhere nothing. */
export class RowProgress {
  private readonly bar = process.stderr.isTTY
    ? new SingleBar(
        {
          format: '{bar} {percentage}% {value} of {total} rows',
          hideCursor: true,
          barsize: 30,
          stream: process.stderr,
        },
        Presets.shades_classic,
      )
    : undefined;

  constructor(total: number) {
    this.bar?.start(total, 0);
  }

  readonly show = (rows: number): void => {
    this.bar?.update(rows);
  };

  end(): void {
    this.bar?.stop();
  }
}
