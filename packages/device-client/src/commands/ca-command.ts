/** `signet-device ca` */
import type { X509Certificate } from "node:crypto";
import { Ended, exitCodes } from "../exit-codes.ts";
import { takeAuthorities } from "../issued.ts";
import { makeStateFolder, readRecord } from "../state/device-record.ts";
import { certificatesIn, readAuthorities } from "../state/enrolled-device.ts";
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
    sha256: { type: "string", value: "HEX", help: "the one with this fingerprint alone" },
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
    const told = certificatesIn(await service.caPem());
    const prints = told.map(printOf);
    const wanted = optionalText(values, "sha256");
    if (wanted !== undefined && !/^[0-9a-f]{64}$/.test(plain(wanted)))
      throw new UsageError("--sha256 must be 64 hexadecimal digits");
    if (wanted !== undefined && !prints.includes(plain(wanted)))
      throw new Ended(exitCodes.failed, `the service's CA is another one: ${prints.join(", ")}`);
    // The fingerprint vouches for this one: whoever knows it can show any others beside it.
    const meant = told.filter((one) => wanted === undefined || printOf(one) === plain(wanted));
    for (const one of meant) io.printError(`SHA-256 ${printOf(one)}`);
    if (values["pin"] === true) {
      await makeStateFolder(state);
      await withLock(state, async () => {
        // Those that are believed already stand beside the new one: by them it is known to be of the same service.
        const known = (await readAuthorities(state)).map(printOf);
        const kept = told.filter((one) => meant.includes(one) || known.includes(printOf(one)));
        await takeAuthorities(state, pemOf(kept));
      });
      io.printError(`kept in ${state}/ca.pem`);
    } else io.print(pemOf(meant).trimEnd());
    return exitCodes.done;
  },
};

const printOf = ({ fingerprint256 }: X509Certificate): string => plain(fingerprint256);
const pemOf = (certificates: readonly X509Certificate[]): string => certificates.map(String).join("");

const plain = (fingerprint: string): string => fingerprint.replaceAll(":", "").toLowerCase();
