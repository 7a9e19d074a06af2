/** `signet-device renew` */
import { flag } from "@signet/cli-runtime/command";
import { jsonLog, type LogFields } from "@signet/cli-runtime/log";
import { exitCodes } from "../exit-codes.ts";
import { type RenewalOptions, renewIfDue, runRenewalDaemon } from "../renewal/renewal-daemon.ts";
import { readEnrolledDevice, validityOf } from "../state/enrolled-device.ts";
import { commonOptions, type DeviceCommand, hookOption, openService, readSettings } from "./settings.ts";

export const renewCommand: DeviceCommand = {
  name: "renew",
  summary: "renew the certificate after two thirds of its lifetime",
  usage: "[--daemon] [--new-key]",
  options: {
    daemon: flag("run until stopped and check every day"),
    "new-key": flag("create a new key for each renewal"),
    ...hookOption,
    ...commonOptions,
  },
  run: async ({ values, io }) => {
    const settings = await readSettings(values, io);
    const { state } = settings;
    const isDaemon = values["daemon"] === true;
    const stop = new AbortController();
    const printEvent = (_: string, message: string, fields: LogFields = {}) =>
      io.printError(`${message} ${JSON.stringify(fields)}`);
    const log = isDaemon ? jsonLog(io.print, io.clock) : printEvent;
    const options: RenewalOptions = {
      ...{ state, log, clock: io.clock, random: io.random },
      openService: ({ record }) => openService(record, settings, io),
      withNewKey: values["new-key"] === true,
      hook: settings["on-revoked"],
      pause: (milliseconds) => io.pause(milliseconds, stop.signal),
      isStopped: () => stop.signal.aborted,
    };
    if (isDaemon) {
      for (const signal of ["SIGTERM", "SIGINT"] as const)
        io.onSignal(signal, () => {
          log("info", "renewal daemon stopping", { signal });
          stop.abort();
        });
      await runRenewalDaemon(options);
      return exitCodes.done;
    }
    const before = await readEnrolledDevice(state);
    await renewIfDue(options);
    const { certificate } = await readEnrolledDevice(state);
    const { notAfter, renewFrom } = validityOf(certificate);
    const isRenewed = certificate.fingerprint256 !== before.certificate.fingerprint256;
    const date = new Date(isRenewed ? notAfter : renewFrom).toISOString();
    io.print(isRenewed ? `Renewed until ${date}` : `Not due yet: renewal is possible from ${date}`);
    return exitCodes.done;
  },
};
