/** The program's outside in a test: what it printed, and a clock, waits and signals that the test moves. */
import { runCommandLine } from "../commands/run-command-line.ts";

export interface TestIo {
  readonly out: string[];
  readonly err: string[];
  /** Milliseconds of each wait. */
  readonly waits: number[];
  signal(name: string): void;
  /** @returns the exit code; `out` and `err` are of this run alone */
  run(...words: string[]): Promise<number>;
}

export interface TestIoOptions {
  readonly clock?: () => number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** In place of waiting. */
  readonly onPause?: (milliseconds: number) => Promise<void> | void;
}

export function testIo(options: TestIoOptions = {}): TestIo {
  const { clock = Date.now, environment = {}, input = "", onPause = () => undefined } = options;
  const [out, err]: [string[], string[]] = [[], []];
  const waits: number[] = [];
  const told = new Map<string, () => void>();
  return {
    ...{ out, err, waits },
    signal: (name) => told.get(name)?.(),
    run: async (...words) => {
      for (const lines of [out, err, waits]) lines.length = 0;
      return await runCommandLine(words, {
        print: (line) => void out.push(line),
        printError: (line) => void err.push(line),
        clock,
        random: () => 0.5,
        environment,
        readLine: async () => input,
        pause: async (milliseconds) => {
          waits.push(milliseconds);
          await onPause(milliseconds);
        },
        onSignal: (signal, heard) => void told.set(signal, heard),
      });
    },
  };
}
