/** `signet device …`, `device-ca show` and `device-policy …` with `--server`: devices and enrolment codes by API v1. */
import { attestationPolicies, ekTrustModes, revocationReasons } from "../../core/devices/device.ts";
import { deviceStates } from "../../features/device-identity/admin/device-list.store.ts";
import { definedOnly, optionalChoice, optionalText, type RecordCall, UsageError } from "../command.ts";
import { fields, printResult } from "../output.ts";
import type { Wire } from "../remote/api-types.ts";
import { pathOf, printRecord, printRecords } from "../remote/named-records.ts";
import { readDuration } from "../times.ts";
import { requireArgument } from "../with-service.ts";
import type { OnServer } from "./on-server.ts";

const pathOfDevice = (call: RecordCall): string => pathOf(call, "/devices", "device");

const printDevices: OnServer = (call) => {
  const state = optionalChoice(call.values, "state", deviceStates);
  return printRecords(call, "/devices", {
    query: { filter: state === undefined ? undefined : `state eq "${state}"` },
    columns: {
      ID: "id",
      NAME: "name",
      ATTESTATION: "attestation",
      STATE: "state",
      ENROLLED: "createdAt",
      "LAST SEEN": "lastSeenAt",
    },
    none: "No matching devices. To add one: signet device register --org …",
  });
};

const printCodes: OnServer = (call) => {
  if (call.values.state !== undefined) throw new UsageError("--state can't be combined with --codes");
  return printRecords(call, "/enrollment-codes", {
    query: { filter: 'state eq "open"' },
    columns: {
      ID: "id",
      NAME: "name",
      ATTESTATION: "attestation",
      REPLACES: "replaces",
      EXPIRES: "expiresAt",
    },
    none: "No unused enrollment codes: signet device register --org …",
  });
};

const devices: Readonly<Record<string, OnServer>> = {
  "device register": async (call) => {
    const { values } = call;
    const expires = optionalText(values, "expires");
    const body = definedOnly({
      name: optionalText(values, "name"),
      attestation: optionalChoice(values, "attestation", attestationPolicies),
      expiresInSeconds: expires === undefined ? undefined : readDuration(expires, "expires"),
      replaces: optionalText(values, "replaces"),
    });
    const made = await call.api.send("POST", "/enrollment-codes", body);
    return printRecord(
      call,
      made,
      "Copy the code now: Signet can't show it again. On the device, run signet-device enroll with this code.",
    );
  },
  "device list": (call) => (call.values.codes === true ? printCodes(call) : printDevices(call)),
  "device show": async (call) => {
    const path = pathOfDevice(call);
    const device = await call.api.read(path);
    const { items: certificates } = await call.api.list(`${path}/certificates`);
    return printRecord(call, { ...device, certificates });
  },
  "device revoke": async (call) => {
    const reason = optionalChoice(call.values, "reason", revocationReasons) ?? "unspecified";
    return printRecord(
      call,
      await call.api.send("POST", `${pathOfDevice(call)}/revoke`, { reason }),
      "Revoked.",
    );
  },
  "device withdraw-code": async (call) => {
    const id = requireArgument(call, "the ID of the enrollment code (not the code itself)");
    const path = `/enrollment-codes/${encodeURIComponent(id)}`;
    return printRecord(call, await call.api.send("POST", `${path}/withdraw`, {}), "Code withdrawn.");
  },
};

const authority: Readonly<Record<string, OnServer>> = {
  "device-ca show": (call) =>
    printRecords(call, "/device-ca", {
      query: { sort: "-generation" },
      columns: { GENERATION: "generation", STATE: "state", EXPIRES: "notAfter", "SHA-256": "fingerprint" },
      none: "There is no device CA yet: it is made when a device first needs it.",
    }),
  "device-ca rotate": async (call) =>
    printRecord(
      call,
      await call.api.send("POST", "/device-ca", {}),
      "Add the new CA certificate now wherever device certificates are verified.",
    ),
};

const printPolicy = (call: RecordCall, organisation: Wire): number => {
  const { deviceAttestation, deviceEkTrust } = organisation["policies"] as Readonly<Record<string, string>>;
  const shown = { attestation: deviceAttestation, ekTrust: deviceEkTrust };
  return printResult(call, shown, () => fields(shown));
};

const policy: Readonly<Record<string, OnServer>> = {
  "device-policy show": async (call) => printPolicy(call, await call.api.read("")),
  "device-policy set": async (call) => {
    const policies = definedOnly({
      deviceAttestation: optionalChoice(call.values, "attestation", attestationPolicies),
      deviceEkTrust: optionalChoice(call.values, "ek-trust", ekTrustModes),
    });
    if (Object.keys(policies).length === 0) throw new UsageError("--attestation or --ek-trust is required");
    return printPolicy(call, await call.api.send("PATCH", "", { policies }));
  },
};

export const devicesOnServer: Readonly<Record<string, OnServer>> = { ...devices, ...authority, ...policy };
