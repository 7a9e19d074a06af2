/** `signet device …`: letting devices in by a one-time code, looking at them, and ending them at once. */
import { attestationPolicies, type Device, revocationReasons } from "../../core/devices/device.ts";
import { findDevice, listCertificates } from "../../core/devices/devices.store.ts";
import { revokeDevice } from "../../core/devices/revoke-device.ts";
import { deviceStates, listDevices } from "../../features/device-identity/admin/device-list.store.ts";
import { registerDevice, withdrawCode } from "../../features/device-identity/admin/register-device.ts";
import { findCode, listUsableCodes } from "../../features/device-identity/enrol/enrolment-code.store.ts";
import type { Service } from "../../modules/open-service.ts";
import { answer, answerList, fields, limitOption, time, timeOrNull } from "../answer.ts";
import {
  type Call,
  type Command,
  choice,
  jsonOption,
  optionalText,
  orgOption,
  UsageError,
} from "../command.ts";
import { commandsOn } from "../on-record.ts";
import { readDuration } from "../times.ts";
import { OPERATOR, organisationOf, readAll, withService } from "../with-service.ts";
import { codeRecord, listedRecord, shownLines, shownRecord } from "./device-record.ts";

const deviceRegister: Command = {
  name: "device register",
  summary: "make a code, shown once, that enrols one device",
  usage: "--org ID [--name NAME] [--attestation POLICY] [--expires TIME] [--replaces ID] [--json]",
  options: {
    ...orgOption,
    name: { type: "string", value: "NAME", help: "of the device, up to 100 characters (default: its id)" },
    attestation: {
      type: "string",
      value: "POLICY",
      help: "none, optional or required: asks for a TPM beyond what the organisation does (default none)",
    },
    expires: { type: "string", value: "TIME", help: "like 10m, 24h, 7d: how long it is good (default 24h)" },
    replaces: { type: "string", value: "ID", help: "a device that is revoked when this one is enrolled" },
    ...jsonOption,
  },
  examples: [
    'signet device register --org 01998d6e-… --name "Till 4"',
    "signet device register --org 01998d6e-… --attestation required --expires 1h",
  ],
  run: (call) =>
    withService(call, async (service) => {
      const { values } = call;
      const { id: orgId } = await organisationOf(service, values);
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
      return answer(call, { id, code, expiresAt: time(expiresAt) }, () => [
        ...fields({ id, code, expires: time(expiresAt) }),
        "",
        "The code is not shown again. On the device: signet-device enroll, with this code.",
      ]);
    }),
};

const deviceList: Command = {
  name: "device list",
  summary: "list the organisation's devices, or the codes that nobody has used yet",
  usage: "--org ID [--state STATE | --codes] [--limit COUNT] [--json]",
  options: {
    ...orgOption,
    state: { type: "string", value: "STATE", help: `only those that are ${deviceStates.join(", ")}` },
    codes: { type: "boolean", help: "enrollment codes in place of devices" },
    ...limitOption,
    ...jsonOption,
  },
  run: (call) =>
    withService(call, async (service) => {
      const { id: orgId } = await organisationOf(service, call.values);
      return call.values.codes === true ? codeList(service, call, orgId) : devices(service, call, orgId);
    }),
};

async function devices(service: Service, call: Call, orgId: string): Promise<number> {
  const asked = optionalText(call.values, "state");
  const state = asked === undefined ? {} : { state: choice("state", asked, deviceStates) };
  const now = service.clock();
  const list = await readAll(call.values, (page) =>
    listDevices(service.database.query, orgId, { ...page, ...state }, now),
  );
  return answerList(call, list, {
    record: listedRecord,
    headings: ["ID", "NAME", "ATTESTATION", "STATE", "CERTIFICATE ENDS", "LAST SEEN"],
    row: (device) => [
      device.id,
      device.name,
      device.attestation,
      device.state,
      timeOrNull(device.certificate?.notAfter ?? null) ?? "",
      timeOrNull(device.lastSeenAt) ?? "never",
    ],
    none: "The organisation has no such devices: signet device register --org …",
  });
}

async function codeList(service: Service, call: Call, orgId: string): Promise<number> {
  if (call.values.state !== undefined) throw new UsageError("--state is about devices, not codes");
  const list = await readAll(call.values, (page) =>
    listUsableCodes(service.database.query, orgId, { ...page, now: service.clock() }),
  );
  return answerList(call, list, {
    record: codeRecord,
    headings: ["ID", "NAME", "ATTESTATION", "REPLACES", "EXPIRES"],
    row: ({ id, name, attestation, replaces, expiresAt }) => [
      id,
      name ?? "",
      attestation,
      replaces ?? "",
      time(expiresAt),
    ],
    none: "No enrollment code waits to be used: signet device register --org …",
  });
}

const onDevice = commandsOn<Device>("device", async ({ database }, organisation, { positionals: [id] }) => {
  if (id === undefined) throw new UsageError("name the device by its ID");
  const device = await findDevice(database.query, organisation.id, id.toLowerCase());
  if (!device) throw new Error(`there is no device "${id}" in this organisation`);
  return device;
});

const deviceShow = onDevice("show", "show a device and its certificates", async (service, call, device) => {
  const certificates = await listCertificates(service.database.query, device.orgId, device.id);
  const record = shownRecord(device, certificates, service.clock());
  return answer(call, record, () => shownLines(record));
});

const deviceRevoke = onDevice(
  "revoke",
  "end a device: its certificates and refresh tokens are worth nothing from now on",
  async (service, call, { orgId, id: deviceId, name }) => {
    const asked = optionalText(call.values, "reason");
    const reason = asked === undefined ? "unspecified" : choice("reason", asked, revocationReasons);
    const revoked = await revokeDevice(service, { orgId, deviceId, reason, actor: OPERATOR });
    return answer(call, { id: deviceId, revoked }, () => [
      revoked ? `"${name}" is revoked.` : `"${name}" was revoked already.`,
    ]);
  },
  {
    usage: "[--reason REASON] ",
    options: {
      reason: {
        type: "string",
        value: "REASON",
        help: `${revocationReasons.join(", ")}: told by CRL and OCSP`,
      },
    },
  },
);

const deviceWithdrawCode = commandsOn<{ orgId: string; id: string }>(
  "device",
  async ({ database }, organisation, { positionals: [id] }) => {
    if (id === undefined) throw new UsageError("name the code by its ID, which is not the code itself");
    const code = await findCode(database.query, organisation.id, id.toLowerCase());
    if (!code) throw new Error(`there is no enrollment code of the id "${id}" in this organisation`);
    return code;
  },
)(
  "withdraw-code",
  "make an enrollment code that nobody has used yet worth nothing",
  async (service, call, { orgId, id }) => {
    const withdrawn = await withdrawCode(service, { orgId, id, actor: OPERATOR });
    return answer(call, { id, withdrawn }, () => [
      withdrawn ? "The code is withdrawn." : "The code could not be used any more.",
    ]);
  },
);

export const deviceCommands: readonly Command[] = [
  deviceRegister,
  deviceList,
  deviceShow,
  deviceRevoke,
  deviceWithdrawCode,
];
