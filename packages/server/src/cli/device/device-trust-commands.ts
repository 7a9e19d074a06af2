/** `signet device-roots …` and `signet ek-allow …`: the TPMs that an organisation trusts. */

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
import { displayHash } from "../../features/device-identity/ek-trust/trust-file.ts";
import {
  type Command,
  jsonOption,
  listArguments,
  optionalText,
  orgOption,
  recordArguments,
} from "../command.ts";
import { formatTime, printList, printResult } from "../output.ts";
import { OPERATOR, readAll, requireOrganisation } from "../with-service.ts";
import { MAX_FILES, parseSha256, readTrustFiles } from "./trust-files.ts";

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

const rootsImport: Command = {
  name: "device-roots import",
  summary: "trust a TPM vendor: import the CA certificates that its EK certificates chain to",
  usage: "FILE… --org ID [--json]",
  positionals: MAX_FILES,
  options: { ...orgOption, ...jsonOption },
  examples: ["signet device-roots import --org 01998d6e-… vendor-root.pem vendor-issuing.der"],
  runWithService: async (service, call) => {
    const { id: orgId } = await requireOrganisation(service, call.values);
    const files = readTrustFiles(call.positionals);
    const added = await importRoots(service, { orgId, actor: OPERATOR }, files);
    const given = files.reduce((sum, { blocks }) => sum + blocks.length, 0);
    const record = { imported: added.map(rootRecord), known: given - added.length };
    return printResult(call, record, () => [
      ...added.map(({ subject }) => `Imported  ${subject}`),
      ...(record.known > 0 ? [`Already present: ${record.known}.`] : []),
    ]);
  },
};

const rootsList: Command = {
  name: "device-roots list",
  summary: "list the trusted root certificates of TPM vendors",
  ...listArguments,
  runWithService: async (service, call) => {
    const { id: orgId } = await requireOrganisation(service, call.values);
    const list = await readAll(call.values, async (page) =>
      (await listRoots(service.database.query, orgId, page)).map((root) => ({
        ...root,
        id: root.fingerprint,
      })),
    );
    return printList(call, list, {
      record: rootRecord,
      headings: ["SHA-256", "EXPIRES", "SUBJECT"],
      row: (root) => [displayHash(root.fingerprint), formatTime(root.notAfter), root.subject],
      none: "No trusted roots yet: signet device-roots import --org … FILE",
    });
  },
};

const hashArguments = { ...recordArguments, usage: "SHA256 --org ID [--json]" };

const rootsRemove: Command = {
  name: "device-roots remove",
  summary: "remove a trusted root; devices enrolled under it are unaffected",
  ...hashArguments,
  runWithService: async (service, call) => {
    const { id: orgId } = await requireOrganisation(service, call.values);
    const fingerprint = parseSha256(call.positionals[0]);
    if (!(await removeRoot(service, { orgId, actor: OPERATOR, fingerprint })))
      throw new Error("there is no such root certificate in this organisation");
    const record = { sha256: displayHash(fingerprint), removed: true };
    return printResult(call, record, () => ["Root certificate removed."]);
  },
};

const ekAdd: Command = {
  name: "ek-allow add",
  summary: "add endorsement keys (EK) to the organisation's allow list",
  usage: "FILE… --org ID [--label TEXT] [--json]",
  positionals: MAX_FILES,
  options: {
    ...orgOption,
    label: { type: "string", value: "TEXT", help: "label of the keys (default: the file name)" },
    ...jsonOption,
  },
  examples: [
    "signet ek-allow add --org 01998d6e-… ek-certificate.der",
    'signet ek-allow add --org 01998d6e-… --label "Order 4711" ek-keys.pem',
  ],
  runWithService: async (service, call) => {
    const { id: orgId } = await requireOrganisation(service, call.values);
    const files = readTrustFiles(call.positionals);
    const label = optionalText(call.values, "label");
    const named = label === undefined ? {} : { label };
    const added = await addAllowedEks(service, { orgId, actor: OPERATOR, files, ...named });
    const given = files.reduce((sum, { blocks }) => sum + blocks.length, 0);
    const record = { added: added.map(ekRecord), known: given - added.length };
    return printResult(call, record, () => [
      ...added.map((ek) => `Added  ${displayHash(ek.ekHash)}  ${ek.label}`),
      ...(record.known > 0 ? [`Already present: ${record.known}.`] : []),
    ]);
  },
};

const ekList: Command = {
  name: "ek-allow list",
  summary: "list the endorsement keys (EK) on the organisation's allow list",
  ...listArguments,
  runWithService: async (service, call) => {
    const { id: orgId } = await requireOrganisation(service, call.values);
    const list = await readAll(call.values, async (page) =>
      (await listAllowedEks(service.database.query, orgId, page)).map((ek) => ({ ...ek, id: ek.ekHash })),
    );
    return printList(call, list, {
      record: ekRecord,
      headings: ["SHA-256", "ADDED", "LABEL"],
      row: (ek) => [displayHash(ek.ekHash), formatTime(ek.createdAt), ek.label],
      none: "No endorsement keys yet: signet ek-allow add --org … FILE",
    });
  },
};

const ekRemove: Command = {
  name: "ek-allow remove",
  summary: "remove an endorsement key (EK) from the allow list; a device enrolled with it is unaffected",
  ...hashArguments,
  runWithService: async (service, call) => {
    const { id: orgId } = await requireOrganisation(service, call.values);
    const ekHash = parseSha256(call.positionals[0]);
    if (!(await removeAllowedEk(service, { orgId, actor: OPERATOR, ekHash })))
      throw new Error("there is no such endorsement key on this organisation's allow list");
    const record = { sha256: displayHash(ekHash), removed: true };
    return printResult(call, record, () => ["Endorsement key removed."]);
  },
};

export const deviceTrustCommands: readonly Command[] = [
  rootsImport,
  rootsList,
  rootsRemove,
  ekAdd,
  ekList,
  ekRemove,
];
