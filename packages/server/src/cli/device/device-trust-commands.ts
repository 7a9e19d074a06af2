/** `signet device-policy …`, `device-roots …` and `ek-allow …`: the attestation policy and the trusted TPMs. */
import { readFileSync, statSync } from "node:fs";
import { attestationPolicies, ekTrustModes } from "../../core/devices/device.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import { changeOrganisationSettings } from "../../core/organisations/organisations.ts";
import {
  type AllowedEk,
  type DeviceRoot,
  listAllowedEks,
  listRoots,
} from "../../features/device-identity/ek-trust/ek-trust.store.ts";
import {
  addAllowedEks,
  importRoots,
  removeAllowedEk,
  removeRoot,
} from "../../features/device-identity/ek-trust/roots.ts";
import {
  displayHash,
  MAX_TRUST_FILE_BYTES,
  readTrustFile,
  type TrustFile,
} from "../../features/device-identity/ek-trust/trust-file.ts";
import {
  type Command,
  definedOnly,
  listArguments,
  type OrganisationCall,
  optionalChoice,
  optionalText,
  UsageError,
} from "../command.ts";
import { errorMessage, fields, formatTime, printList, printResult } from "../output.ts";
import { readList, requireOrganisation } from "../with-service.ts";

const rootRecord = ({ fingerprint, subject, notAfter, createdAt }: DeviceRoot) => ({
  sha256: displayHash(fingerprint),
  subject,
  notAfter: formatTime(notAfter),
  importedAt: formatTime(createdAt),
});

const ekRecord = ({ ekHash, label, createdAt }: AllowedEk) => ({
  sha256: displayHash(ekHash),
  label,
  addedAt: formatTime(createdAt),
});

const MAX_FILES = 200;

const hashArguments = { usage: "SHA256 --org ID [--json]", positionals: 1 };
const alreadyPresent = (known: number): string[] => (known > 0 ? [`Already present: ${known}.`] : []);

export const deviceTrustCommands: readonly Command[] = [
  {
    name: "device-roots import",
    summary: "trust a TPM vendor: import the CA certificates that its EK certificates chain to",
    usage: "FILE… --org ID [--json]",
    positionals: MAX_FILES,
    examples: ["signet device-roots import --org 01998d6e-… vendor-root.pem vendor-issuing.der"],
    runInOrganisation: async (call) => {
      const { files, count } = readTrustFiles(call.positionals);
      const added = await importRoots(call.service, call.by, files);
      const record = { imported: added.map(rootRecord), known: count - added.length };
      return printResult(call, record, () => [
        ...added.map(({ subject }) => `Imported  ${subject}`),
        ...alreadyPresent(record.known),
      ]);
    },
  },
  {
    name: "device-roots list",
    summary: "list the trusted root certificates of TPM vendors",
    ...listArguments,
    runInOrganisation: (call) => {
      const roots = readList(call, async (...page) =>
        (await listRoots(...page)).map((root) => ({ ...root, id: root.fingerprint })),
      );
      return printList(call, roots, {
        record: rootRecord,
        columns: { "SHA-256": "sha256", EXPIRES: "notAfter", SUBJECT: "subject" },
        none: "No trusted roots yet: signet device-roots import --org … FILE",
      });
    },
  },
  {
    name: "device-roots remove",
    summary: "remove a trusted root; devices enrolled under it are unaffected",
    ...hashArguments,
    runInOrganisation: async (call) => {
      const fingerprint = parseSha256(call.positionals[0]);
      if (!(await removeRoot(call.service, { ...call.by, fingerprint })))
        throw new Error("there is no such root certificate in this organisation");
      const record = { sha256: displayHash(fingerprint), removed: true };
      return printResult(call, record, () => ["Root certificate removed."]);
    },
  },
  {
    name: "ek-allow add",
    summary: "add endorsement keys (EK) to the organisation's allow list",
    usage: "FILE… --org ID [--label TEXT] [--json]",
    positionals: MAX_FILES,
    options: { label: { value: "TEXT", help: "label of the keys (default: the file name)" } },
    examples: [
      "signet ek-allow add --org 01998d6e-… ek-certificate.der",
      'signet ek-allow add --org 01998d6e-… --label "Order 4711" ek-keys.pem',
    ],
    runInOrganisation: async (call) => {
      const { files, count } = readTrustFiles(call.positionals);
      const label = definedOnly({ label: optionalText(call.values, "label") });
      const added = await addAllowedEks(call.service, { ...call.by, files, ...label });
      const record = { added: added.map(ekRecord), known: count - added.length };
      return printResult(call, record, () => [
        ...added.map((ek) => `Added  ${displayHash(ek.ekHash)}  ${ek.label}`),
        ...alreadyPresent(record.known),
      ]);
    },
  },
  {
    name: "ek-allow list",
    summary: "list the endorsement keys (EK) on the organisation's allow list",
    ...listArguments,
    runInOrganisation: (call) => {
      const eks = readList(call, async (...page) =>
        (await listAllowedEks(...page)).map((ek) => ({ ...ek, id: ek.ekHash })),
      );
      return printList(call, eks, {
        record: ekRecord,
        columns: { "SHA-256": "sha256", ADDED: "addedAt", LABEL: "label" },
        none: "No endorsement keys yet: signet ek-allow add --org … FILE",
      });
    },
  },
  {
    name: "ek-allow remove",
    summary: "remove an endorsement key (EK) from the allow list; a device enrolled with it is unaffected",
    ...hashArguments,
    runInOrganisation: async (call) => {
      const ekHash = parseSha256(call.positionals[0]);
      if (!(await removeAllowedEk(call.service, { ...call.by, ekHash })))
        throw new Error("there is no such endorsement key on this organisation's allow list");
      const record = { sha256: displayHash(ekHash), removed: true };
      return printResult(call, record, () => ["Endorsement key removed."]);
    },
  },
];

export const devicePolicyCommands: readonly Command[] = [
  {
    name: "device-policy show",
    summary: "show the organisation's device attestation policy",
    runInOrganisation: async (call) => printPolicy(call, call.organisation),
  },
  {
    name: "device-policy set",
    summary: "change the device attestation policy; enrolled devices are unaffected",
    usage: "--org ID [--attestation POLICY] [--ek-trust MODE] [--json]",
    options: {
      attestation: {
        value: "POLICY",
        help: "none, optional or required: whether enrolment needs a TPM; an enrollment code can only be stricter",
      },
      "ek-trust": {
        value: "MODE",
        help: "chain: EK certificate chains to an imported root; allowlist: EK is on the allow list; or both",
      },
    },
    examples: ["signet device-policy set --org 01998d6e-… --attestation required --ek-trust both"],
    runInOrganisation: async (call) => {
      const { service, values } = call;
      const settings = definedOnly({
        deviceAttestation: optionalChoice(values, "attestation", attestationPolicies),
        deviceEkTrust: optionalChoice(values, "ek-trust", ekTrustModes),
      });
      if (Object.keys(settings).length === 0) throw new UsageError("--attestation or --ek-trust is required");
      await changeOrganisationSettings(service, { ...call.by, settings });
      return printPolicy(call, await requireOrganisation(service, values));
    },
  },
];

function printPolicy(call: OrganisationCall, { settings }: Organisation): number {
  const { deviceAttestation: attestation, deviceEkTrust: ekTrust } = settings;
  return printResult(call, { attestation, ekTrust }, () => fields({ attestation, ekTrust }));
}

/** @returns the files, and the number of their certificates and keys. @throws UsageError without a file, Error for an unreadable one */
export function readTrustFiles(paths: readonly string[]): { files: TrustFile[]; count: number } {
  if (paths.length === 0) throw new UsageError("a FILE is required");
  const files = paths.map((path) => readTrustFile(path, readBounded(path)));
  return { files, count: files.reduce((sum, { blocks }) => sum + blocks.length, 0) };
}

function readBounded(path: string): Buffer {
  try {
    // Checked before reading: the path may name a block device.
    const status = statSync(path);
    if (!status.isFile()) throw new Error("not a file");
    if (status.size > MAX_TRUST_FILE_BYTES) throw new Error("the file is larger than 4 MiB");
    return readFileSync(path);
  } catch (error) {
    throw new Error(`${path}: ${errorMessage(error)}`);
  }
}

/** @param typed hexadecimal, with or without colons. @returns base64url. @throws UsageError */
export function parseSha256(typed: string | undefined): string {
  const hex = (typed ?? "").replaceAll(":", "");
  if (!/^[0-9a-f]{64}$/i.test(hex)) throw new UsageError("SHA256 is required, as shown by the list command");
  return Buffer.from(hex, "hex").toString("base64url");
}
