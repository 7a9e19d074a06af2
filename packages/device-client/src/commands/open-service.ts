/** The way to the service, for commands of one call each. */
import { readFile } from "node:fs/promises";
import { type DeviceService, deviceService, type ServicePlace } from "../service/device-service.ts";
import { type Http, httpClient } from "../service/http-call.ts";
import type { DeviceRecord } from "../state/device-record.ts";
import { type Io, UsageError } from "./command.ts";
import type { Settings } from "./settings.ts";

/** @param serverCa a file in PEM. @throws UsageError when it cannot be read */
export async function openService(
  place: ServicePlace,
  serverCa: string | undefined,
  io: Io,
): Promise<DeviceService> {
  return deviceService(patient(httpClient(await readRoots(serverCa)), io), place);
}

/** What the command line says counts more than what was said at the enrolment. */
export const openServiceOf = (record: DeviceRecord, settings: Settings, io: Io): Promise<DeviceService> =>
  openService(record, settings["server-ca"] ?? record.serverCa, io);

async function readRoots(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (!text?.includes("-----BEGIN CERTIFICATE-----"))
    throw new UsageError(`${file} holds no certificate in PEM`);
  return text;
}

const TRIES = 3;
const LONGEST_WAIT_SECONDS = 30;

/** Waits when the service asks for a little patience: 429 and 503 say that it has done nothing. */
export function patient(http: Http, { pause, random }: Pick<Io, "pause" | "random">): Http {
  return async (call) => {
    for (let tries = 1; ; tries += 1) {
      const answer = await http(call);
      const isBusy = answer.status === 429 || answer.status === 503;
      const seconds = answer.retryAfter ?? tries;
      if (!isBusy || tries >= TRIES || seconds > LONGEST_WAIT_SECONDS) return answer;
      await pause((seconds + random()) * 1000);
    }
  };
}
