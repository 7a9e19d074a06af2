/** `signet-device ca` */
import { Ended, exitCodes } from "../exit-codes.ts";
import { takeAuthorities } from "../issued.ts";
import { makeStateFolder, readRecord } from "../state/device-record.ts";
import { certificatesIn } from "../state/enrolled-device.ts";
import { withLock } from "../state/lock.ts";
import { type Call, type Command, optionalText, UsageError } from "./command.ts";
import { placeOf, placeOptions } from "./enroll-command.ts";
import { openService } from "./open-service.ts";
import { commonOptions, readSettings, trustOption } from "./settings.ts";

export const caCommand: Command = {
  name: "ca",
  summary: "show the certificates of the organisation's device CA, or believe them from now on",
  usage: "[--server URL --org ID] [--sha256 HEX] [--pin]",
  options: {
    ...placeOptions,
    sha256: { type: "string", value: "HEX", help: "one of them must have this fingerprint" },
    pin: {
      type: "boolean",
      help: "keep them in the state folder: certificates of other CAs are refused from then on",
    },
    ...trustOption,
    ...commonOptions,
  },
  run: async ({ values, io }: Call) => {
    const settings = await readSettings(values, io);
    const { state } = settings;
    const record = settings.server === undefined ? await readRecord(state) : undefined;
    const place = record ?? placeOf(settings);
    const service = await openService(place, settings["server-ca"] ?? record?.serverCa, io);
    const pem = await service.caPem();
    const prints = certificatesIn(pem).map(({ fingerprint256 }) => plain(fingerprint256));
    const wanted = optionalText(values, "sha256");
    if (wanted !== undefined && !/^[0-9a-f]{64}$/.test(plain(wanted)))
      throw new UsageError("--sha256 must be 64 hexadecimal digits");
    if (wanted !== undefined && !prints.includes(plain(wanted)))
      throw new Ended(exitCodes.failed, `the service's CA is another one: ${prints.join(", ")}`);
    for (const print of prints) io.printError(`SHA-256 ${print}`);
    if (values["pin"] === true) {
      await makeStateFolder(state);
      await withLock(state, () => takeAuthorities(state, pem));
      io.printError(`kept in ${state}/ca.pem`);
    } else io.print(pem.trimEnd());
    return exitCodes.done;
  },
};

const plain = (fingerprint: string): string => fingerprint.replaceAll(":", "").toLowerCase();
