/** `signet-device renew` */
import { exitCodes } from "../exit-codes.ts";
import { keepRenewed, look } from "../keep-renewed.ts";
import { jsonLog } from "../log.ts";
import { readEnrolledDevice, validityOf } from "../state/enrolled-device.ts";
import type { Call, Command } from "./command.ts";
import { openServiceOf } from "./open-service.ts";
import { commonOptions, hookOption, readSettings, trustOption } from "./settings.ts";

export const renewCommand: Command = {
  name: "renew",
  summary: "renew the certificate when two thirds of its life are over",
  usage: "[--daemon] [--new-key]",
  options: {
    daemon: { type: "boolean", help: "go on until stopped, with a look every day" },
    "new-key": { type: "boolean", help: "with a new key each time" },
    ...trustOption,
    ...hookOption,
    ...commonOptions,
  },
  run: async ({ values, io }: Call) => {
    const settings = await readSettings(values, io);
    const { state } = settings;
    const isDaemon = values["daemon"] === true;
    const stop = new AbortController();
    const log = isDaemon
      ? jsonLog(io.print, io.clock)
      : (_level: string, message: string, fields: object = {}) =>
          io.printError(`${message} ${JSON.stringify(fields)}`);
    const keeping = {
      state,
      serviceOf: async ({ record }: { record: Parameters<typeof openServiceOf>[0] }) =>
        await openServiceOf(record, settings, io),
      withNewKey: values["new-key"] === true,
      hook: settings["on-revoked"],
      log,
      clock: io.clock,
      random: io.random,
      wait: (milliseconds: number) => io.pause(milliseconds, stop.signal),
      stopped: () => stop.signal.aborted,
    };
    if (isDaemon) {
      for (const signal of ["SIGTERM", "SIGINT"] as const)
        io.onSignal(signal, () => {
          log("info", "renewal stops", { signal });
          stop.abort();
        });
      await keepRenewed(keeping);
      return exitCodes.done;
    }
    const before = await readEnrolledDevice(state);
    await look(keeping);
    const { certificate } = await readEnrolledDevice(state);
    const { notAfter, renewFrom } = validityOf(certificate);
    const isNew = certificate.fingerprint256 !== before.certificate.fingerprint256;
    const when = new Date(isNew ? notAfter : renewFrom).toISOString();
    io.print(isNew ? `Renewed until ${when}` : `Not due: it can be renewed from ${when}`);
    return exitCodes.done;
  },
};
