/** `DeviceIo` for tests: records output and pauses, with a clock and signals under the test's control. */
import { runDeviceCommandLine } from "../commands/device-command-line.ts";

export interface TestIo {
  readonly out: string[];
  readonly err: string[];
  /** Milliseconds of each pause. */
  readonly pauses: number[];
  signal(name: string): void;
  /** @returns the exit code; `out` and `err` are reset first */
  run(...words: string[]): Promise<number>;
}

export interface TestIoOptions {
  readonly clock?: () => number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Runs instead of each pause. */
  readonly onPause?: (milliseconds: number) => Promise<void> | void;
}

export function testIo(options: TestIoOptions = {}): TestIo {
  const { clock = Date.now, environment = {}, input = "", onPause = () => undefined } = options;
  const [out, err]: [string[], string[]] = [[], []];
  const pauses: number[] = [];
  const listeners = new Map<string, () => void>();
  return {
    ...{ out, err, pauses },
    signal: (name) => listeners.get(name)?.(),
    run: async (...words) => {
      for (const lines of [out, err, pauses]) lines.length = 0;
      return await runDeviceCommandLine(words, {
        print: (line) => void out.push(line),
        printError: (line) => void err.push(line),
        clock,
        random: () => 0.5,
        environment,
        readLine: async () => input,
        pause: async (milliseconds) => {
          pauses.push(milliseconds);
          await onPause(milliseconds);
        },
        onSignal: (signal, listener) => void listeners.set(signal, listener),
      });
    },
  };
}
