/** `signet device …`: enrollment codes, and listing and revoking devices. */
import { attestationPolicies, type Device, revocationReasons } from "../../core/devices/device.ts";
import { findDevice, listCertificates } from "../../core/devices/devices.store.ts";
import { revokeDevice } from "../../core/devices/revoke-device.ts";
import { deviceStates, listDevices } from "../../features/device-identity/admin/device-list.store.ts";
import { registerDevice, withdrawCode } from "../../features/device-identity/admin/register-device.ts";
import { findCode, listUsableCodes } from "../../features/device-identity/enrol/enrolment-code.store.ts";
import {
  type Command,
  definedOnly,
  limitOption,
  type OrganisationCall,
  optionalChoice,
  optionalText,
  UsageError,
} from "../command.ts";
import { fields, formatTime, printList, printResult, timeOrNever } from "../output.ts";
import { readDuration } from "../times.ts";
import { readAll, requireRecord } from "../with-service.ts";
import { codeRecord, deviceDetailsLines, deviceDetailsRecord, deviceListRecord } from "./device-record.ts";

export const deviceCommands: readonly Command[] = [
  {
    name: "device register",
    summary: "create a one-time enrollment code for a device, shown once",
    usage: "--org ID [--name NAME] [--attestation POLICY] [--expires TIME] [--replaces ID] [--json]",
    options: {
      name: { value: "NAME", help: "device name, up to 100 characters (default: the device ID)" },
      attestation: {
        value: "POLICY",
        help: "none, optional or required: TPM attestation beyond the organisation's policy (default none)",
      },
      expires: { value: "TIME", help: "lifetime of the code, such as 10m, 24h or 7d (default 24h)" },
      replaces: { value: "ID", help: "ID of the device to revoke when this one enrols" },
    },
    examples: [
      'signet device register --org 01998d6e-… --name "Till 4"',
      "signet device register --org 01998d6e-… --attestation required --expires 1h",
    ],
    runInOrganisation: register,
  },
  {
    name: "device list",
    summary: "list devices, or unused enrollment codes",
    usage: "--org ID [--state STATE | --codes] [--limit COUNT] [--json]",
    options: {
      state: { value: "STATUS", help: `filter by status: ${deviceStates.join(", ")}` },
      codes: { help: "list unused enrollment codes instead of devices" },
      ...limitOption,
    },
    runInOrganisation: (call) => (call.values.codes === true ? printCodes(call) : printDevices(call)),
  },
  {
    name: "device show",
    summary: "show a device and its certificates",
    positionals: 1,
    runInOrganisation: async (call) => {
      const { service } = call;
      const device = await requireDevice(call);
      const certificates = await listCertificates(service.database.query, device.orgId, device.id);
      const record = deviceDetailsRecord(device, certificates, service.clock());
      return printResult(call, record, () => deviceDetailsLines(record));
    },
  },
  {
    name: "device revoke",
    summary: "revoke a device with its certificates and refresh tokens immediately",
    usage: "ID --org ID [--reason REASON] [--json]",
    positionals: 1,
    options: {
      reason: { value: "REASON", help: `${revocationReasons.join(", ")}; published by CRL and OCSP` },
    },
    runInOrganisation: async (call) => {
      const reason = optionalChoice(call.values, "reason", revocationReasons) ?? "unspecified";
      const { id, name } = await requireDevice(call);
      const revoked = await revokeDevice(call.service, { ...call.by, deviceId: id, reason });
      return printResult(call, { id, revoked }, () => [
        revoked ? `Revoked "${name}".` : `"${name}" was already revoked.`,
      ]);
    },
  },
  {
    name: "device withdraw-code",
    summary: "invalidate an unused enrollment code",
    positionals: 1,
    runInOrganisation: async (call) => {
      if (call.positionals.length === 0)
        throw new UsageError("the ID of the enrollment code is required (not the code itself)");
      const { service, by, organisation } = call;
      const { id } = await requireRecord(call, "enrollment code", (given) =>
        findCode(service.database.query, organisation.id, given),
      );
      const withdrawn = await withdrawCode(service, { ...by, id });
      return printResult(call, { id, withdrawn }, () => [
        withdrawn ? "Code withdrawn." : "The code was already used or expired.",
      ]);
    },
  },
];

async function register(call: OrganisationCall): Promise<number> {
  const { values } = call;
  const expires = optionalText(values, "expires");
  const { code, id, expiresAt } = await registerDevice(call.service, {
    ...definedOnly({
      name: optionalText(values, "name"),
      attestation: optionalChoice(values, "attestation", attestationPolicies),
      expiresInSeconds: expires === undefined ? undefined : readDuration(expires, "expires"),
      replaces: optionalText(values, "replaces"),
    }),
    ...call.by,
  });
  return printResult(call, { id, code, expiresAt: formatTime(expiresAt) }, () => [
    ...fields({ id, code, expires: formatTime(expiresAt) }),
    "",
    "Copy the code now: Signet can't show it again. On the device, run signet-device enroll with this code.",
  ]);
}

function printDevices(call: OrganisationCall): Promise<number> {
  const { service, values } = call;
  const state = definedOnly({ state: optionalChoice(values, "state", deviceStates) });
  const now = service.clock();
  const devices = readAll(values, (page) =>
    listDevices(service.database.query, call.organisation.id, { ...page, ...state }, now),
  );
  return printList(call, devices, {
    record: deviceListRecord,
    columns: {
      ID: "id",
      NAME: "name",
      ATTESTATION: "attestation",
      STATUS: "state",
      "CERTIFICATE EXPIRES": ({ certificate }) => (certificate ? formatTime(certificate.notAfter) : ""),
      "LAST SEEN": ({ lastSeenAt }) => timeOrNever(lastSeenAt),
    },
    none: "No matching devices. To add one: signet device register --org …",
  });
}

function printCodes(call: OrganisationCall): Promise<number> {
  const { service, values } = call;
  if (values.state !== undefined) throw new UsageError("--state can't be combined with --codes");
  const codes = readAll(values, (page) =>
    listUsableCodes(service.database.query, call.organisation.id, { ...page, now: service.clock() }),
  );
  return printList(call, codes, {
    record: codeRecord,
    columns: {
      ID: "id",
      NAME: "name",
      ATTESTATION: "attestation",
      REPLACES: "replaces",
      EXPIRES: "expiresAt",
    },
    none: "No unused enrollment codes: signet device register --org …",
  });
}

const requireDevice = (call: OrganisationCall): Promise<Device> =>
  requireRecord(call, "device", (id) => findDevice(call.service.database.query, call.organisation.id, id));
