/** `signet device …`: enrollment codes, and listing and revoking devices. */
import { attestationPolicies, type Device, revocationReasons } from "../../core/devices/device.ts";
import { findDevice, listCertificates } from "../../core/devices/devices.store.ts";
import { revokeDevice } from "../../core/devices/revoke-device.ts";
import { deviceStates, listDevices } from "../../features/device-identity/admin/device-list.store.ts";
import { registerDevice, withdrawCode } from "../../features/device-identity/admin/register-device.ts";
import { findCode, listUsableCodes } from "../../features/device-identity/enrol/enrolment-code.store.ts";
import type { Service } from "../../modules/open-service.ts";
import {
  type Call,
  type Command,
  choice,
  jsonOption,
  limitOption,
  optionalText,
  orgOption,
  recordArguments,
  UsageError,
} from "../command.ts";
import { fields, formatTime, formatTimeOrNull, printList, printResult } from "../output.ts";
import { readDuration } from "../times.ts";
import { OPERATOR, readAll, requireOrganisation } from "../with-service.ts";
import { codeRecord, deviceDetailsLines, deviceDetailsRecord, deviceListRecord } from "./device-record.ts";

const deviceRegister: Command = {
  name: "device register",
  summary: "create a one-time enrollment code for a device, shown once",
  usage: "--org ID [--name NAME] [--attestation POLICY] [--expires TIME] [--replaces ID] [--json]",
  options: {
    ...orgOption,
    name: {
      type: "string",
      value: "NAME",
      help: "device name, up to 100 characters (default: the device ID)",
    },
    attestation: {
      type: "string",
      value: "POLICY",
      help: "none, optional or required: TPM attestation beyond the organisation's policy (default none)",
    },
    expires: {
      type: "string",
      value: "TIME",
      help: "lifetime of the code, such as 10m, 24h or 7d (default 24h)",
    },
    replaces: { type: "string", value: "ID", help: "ID of the device to revoke when this one enrols" },
    ...jsonOption,
  },
  examples: [
    'signet device register --org 01998d6e-… --name "Till 4"',
    "signet device register --org 01998d6e-… --attestation required --expires 1h",
  ],
  runWithService: async (service, call) => {
    const { values } = call;
    const { id: orgId } = await requireOrganisation(service, values);
    const name = optionalText(values, "name");
    const attestation = optionalText(values, "attestation");
    const expires = optionalText(values, "expires");
    const replaces = optionalText(values, "replaces");
    const { code, id, expiresAt } = await registerDevice(service, {
      orgId,
      actor: OPERATOR,
      ...(name === undefined ? {} : { name }),
      ...(attestation === undefined
        ? {}
        : { attestation: choice("attestation", attestation, attestationPolicies) }),
      ...(expires === undefined ? {} : { expiresInSeconds: readDuration(expires, "expires") }),
      ...(replaces === undefined ? {} : { replaces }),
    });
    return printResult(call, { id, code, expiresAt: formatTime(expiresAt) }, () => [
      ...fields({ id, code, expires: formatTime(expiresAt) }),
      "",
      "Copy the code now: Signet can't show it again. On the device, run signet-device enroll with this code.",
    ]);
  },
};

const deviceList: Command = {
  name: "device list",
  summary: "list devices, or unused enrollment codes",
  usage: "--org ID [--state STATE | --codes] [--limit COUNT] [--json]",
  options: {
    ...orgOption,
    state: { type: "string", value: "STATUS", help: `filter by status: ${deviceStates.join(", ")}` },
    codes: { type: "boolean", help: "list unused enrollment codes instead of devices" },
    ...limitOption,
    ...jsonOption,
  },
  runWithService: async (service, call) => {
    const { id: orgId } = await requireOrganisation(service, call.values);
    return call.values.codes === true ? printCodes(service, call, orgId) : printDevices(service, call, orgId);
  },
};

async function printDevices(service: Service, call: Call, orgId: string): Promise<number> {
  const asked = optionalText(call.values, "state");
  const state = asked === undefined ? {} : { state: choice("state", asked, deviceStates) };
  const now = service.clock();
  const list = await readAll(call.values, (page) =>
    listDevices(service.database.query, orgId, { ...page, ...state }, now),
  );
  return printList(call, list, {
    record: deviceListRecord,
    headings: ["ID", "NAME", "ATTESTATION", "STATUS", "CERTIFICATE EXPIRES", "LAST SEEN"],
    row: (device) => [
      device.id,
      device.name,
      device.attestation,
      device.state,
      formatTimeOrNull(device.certificate?.notAfter ?? null) ?? "",
      formatTimeOrNull(device.lastSeenAt) ?? "never",
    ],
    none: "No matching devices. To add one: signet device register --org …",
  });
}

async function printCodes(service: Service, call: Call, orgId: string): Promise<number> {
  if (call.values.state !== undefined) throw new UsageError("--state can't be combined with --codes");
  const list = await readAll(call.values, (page) =>
    listUsableCodes(service.database.query, orgId, { ...page, now: service.clock() }),
  );
  return printList(call, list, {
    record: codeRecord,
    headings: ["ID", "NAME", "ATTESTATION", "REPLACES", "EXPIRES"],
    row: ({ id, name, attestation, replaces, expiresAt }) => [
      id,
      name ?? "",
      attestation,
      replaces ?? "",
      formatTime(expiresAt),
    ],
    none: "No unused enrollment codes: signet device register --org …",
  });
}

async function requireDevice(
  service: Service,
  { values, positionals: [id] }: Pick<Call, "values" | "positionals">,
): Promise<Device> {
  const organisation = await requireOrganisation(service, values);
  if (id === undefined) throw new UsageError("the ID of the device is required");
  const device = await findDevice(service.database.query, organisation.id, id.toLowerCase());
  if (!device) throw new Error(`there is no device "${id}" in this organisation`);
  return device;
}

const deviceShow: Command = {
  name: "device show",
  summary: "show a device and its certificates",
  ...recordArguments,
  runWithService: async (service, call) => {
    const device = await requireDevice(service, call);
    const certificates = await listCertificates(service.database.query, device.orgId, device.id);
    const record = deviceDetailsRecord(device, certificates, service.clock());
    return printResult(call, record, () => deviceDetailsLines(record));
  },
};

const deviceRevoke: Command = {
  name: "device revoke",
  summary: "revoke a device with its certificates and refresh tokens immediately",
  usage: "ID --org ID [--reason REASON] [--json]",
  positionals: 1,
  options: {
    ...orgOption,
    reason: {
      type: "string",
      value: "REASON",
      help: `${revocationReasons.join(", ")}; published by CRL and OCSP`,
    },
    ...jsonOption,
  },
  runWithService: async (service, call) => {
    const { orgId, id, name } = await requireDevice(service, call);
    const text = optionalText(call.values, "reason");
    const reason = text === undefined ? "unspecified" : choice("reason", text, revocationReasons);
    const revoked = await revokeDevice(service, { orgId, deviceId: id, reason, actor: OPERATOR });
    return printResult(call, { id, revoked }, () => [
      revoked ? `Revoked "${name}".` : `"${name}" was already revoked.`,
    ]);
  },
};

const deviceWithdrawCode: Command = {
  name: "device withdraw-code",
  summary: "invalidate an unused enrollment code",
  ...recordArguments,
  runWithService: async (service, call) => {
    const { id: orgId } = await requireOrganisation(service, call.values);
    const [given] = call.positionals;
    if (given === undefined)
      throw new UsageError("the ID of the enrollment code is required (not the code itself)");
    const code = await findCode(service.database.query, orgId, given.toLowerCase());
    if (!code) throw new Error(`there is no enrollment code "${given}" in this organisation`);
    const withdrawn = await withdrawCode(service, { orgId, id: code.id, actor: OPERATOR });
    return printResult(call, { id: code.id, withdrawn }, () => [
      withdrawn ? "Code withdrawn." : "The code was already used or expired.",
    ]);
  },
};

export const deviceCommands: readonly Command[] = [
  deviceRegister,
  deviceList,
  deviceShow,
  deviceRevoke,
  deviceWithdrawCode,
];
