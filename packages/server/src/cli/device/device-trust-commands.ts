/** `signet device-roots …` and `signet ek-allow …`: whose TPMs an organisation believes. */
import { allowEks, disallowEk } from "../../features/device-identity/ek-trust/allowed-eks.ts";
import {
  type AllowedEk,
  type DeviceRoot,
  listAllowedEks,
  listRoots,
} from "../../features/device-identity/ek-trust/ek-trust.store.ts";
import { importRoots, removeRoot } from "../../features/device-identity/ek-trust/roots.ts";
import { shownHash } from "../../features/device-identity/ek-trust/shown-hash.ts";
import type { Service } from "../../modules/open-service.ts";
import { answer, answerList, limitOption, time } from "../answer.ts";
import { type Command, jsonOption, optionalText, orgOption } from "../command.ts";
import { OPERATOR, organisationOf, readAll, withService } from "../with-service.ts";
import { hashOf, MOST_FILES, trustFiles } from "./trust-files.ts";

const rootRecord = ({ fingerprint, subject, notAfter, createdAt }: DeviceRoot) => ({
  sha256: shownHash(fingerprint),
  subject,
  notAfter: time(notAfter),
  importedAt: time(createdAt),
});

const ekRecord = ({ ekHash, label, createdAt }: AllowedEk) => ({
  sha256: shownHash(ekHash),
  label,
  addedAt: time(createdAt),
});

const rootsImport: Command = {
  name: "device-roots import",
  summary: "believe the TPMs of a vendor: import the certificates that those of its endorsement keys lead to",
  usage: "FILE… --org ID [--json]",
  positionals: MOST_FILES,
  options: { ...orgOption, ...jsonOption },
  examples: ["signet device-roots import --org 01998d6e-… vendor-root.pem vendor-issuing.der"],
  run: (call) =>
    withService(call, async (service) => {
      const { id: orgId } = await organisationOf(service, call.values);
      const files = trustFiles(call.positionals);
      const added = await importRoots(service, { orgId, actor: OPERATOR }, files);
      const given = files.reduce((sum, { blocks }) => sum + blocks.length, 0);
      const record = { imported: added.map(rootRecord), known: given - added.length };
      return answer(call, record, () => [
        ...added.map(({ subject }) => `imported  ${subject}`),
        ...(record.known > 0 ? [`${record.known} of them were there already.`] : []),
      ]);
    }),
};

const rootsList: Command = {
  name: "device-roots list",
  summary: "list the roots of TPM vendors that the organisation believes",
  usage: "--org ID [--limit COUNT] [--json]",
  options: { ...orgOption, ...limitOption, ...jsonOption },
  run: (call) =>
    withService(call, async (service) => {
      const { id: orgId } = await organisationOf(service, call.values);
      const list = await readAll(call.values, async (page) =>
        (await listRoots(service.database.query, orgId, page)).map((root) => ({
          ...root,
          id: root.fingerprint,
        })),
      );
      return answerList(call, list, {
        record: rootRecord,
        headings: ["SHA-256", "ENDS", "SUBJECT"],
        row: (root) => [shownHash(root.fingerprint), time(root.notAfter), root.subject],
        none: "The organisation believes no vendor's TPMs yet: signet device-roots import --org … FILE",
      });
    }),
};

const rootsRemove = removal("device-roots remove", {
  summary: "stop believing a root; devices that were enrolled under it stay",
  remove: (service, { orgId, hash }) => removeRoot(service, { orgId, actor: OPERATOR, fingerprint: hash }),
  missing: "there is no such root in this organisation",
  done: "The root is removed.",
});

const ekAdd: Command = {
  name: "ek-allow add",
  summary: "put endorsement keys on the organisation's list",
  usage: "FILE… --org ID [--label TEXT] [--json]",
  positionals: MOST_FILES,
  options: {
    ...orgOption,
    label: { type: "string", value: "TEXT", help: "what they are, for people (default: the file's name)" },
    ...jsonOption,
  },
  examples: [
    "signet ek-allow add --org 01998d6e-… ek-certificate.der",
    'signet ek-allow add --org 01998d6e-… --label "Order 4711" ek-keys.pem',
  ],
  run: (call) =>
    withService(call, async (service) => {
      const { id: orgId } = await organisationOf(service, call.values);
      const files = trustFiles(call.positionals);
      const label = optionalText(call.values, "label");
      const named = label === undefined ? {} : { label };
      const added = await allowEks(service, { orgId, actor: OPERATOR, files, ...named });
      const given = files.reduce((sum, { blocks }) => sum + blocks.length, 0);
      const record = { added: added.map(ekRecord), known: given - added.length };
      return answer(call, record, () => [
        ...added.map((ek) => `added  ${shownHash(ek.ekHash)}  ${ek.label}`),
        ...(record.known > 0 ? [`${record.known} of them were there already.`] : []),
      ]);
    }),
};

const ekList: Command = {
  name: "ek-allow list",
  summary: "list the endorsement keys that the organisation takes, where its policy goes by the list",
  usage: "--org ID [--limit COUNT] [--json]",
  options: { ...orgOption, ...limitOption, ...jsonOption },
  run: (call) =>
    withService(call, async (service) => {
      const { id: orgId } = await organisationOf(service, call.values);
      const list = await readAll(call.values, async (page) =>
        (await listAllowedEks(service.database.query, orgId, page)).map((ek) => ({ ...ek, id: ek.ekHash })),
      );
      return answerList(call, list, {
        record: ekRecord,
        headings: ["SHA-256", "ADDED", "LABEL"],
        row: (ek) => [shownHash(ek.ekHash), time(ek.createdAt), ek.label],
        none: "There are no endorsement keys on the list yet: signet ek-allow add --org … FILE",
      });
    }),
};

const ekRemove = removal("ek-allow remove", {
  summary: "take an endorsement key off the list; a device that was enrolled with it stays",
  remove: (service, { orgId, hash }) => disallowEk(service, { orgId, actor: OPERATOR, ekHash: hash }),
  missing: "there is no such endorsement key on this organisation's list",
  done: "The endorsement key is removed.",
});

/** Takes off what the only positional argument names by its SHA-256. */
function removal(
  name: string,
  told: {
    readonly summary: string;
    remove(service: Service, of: { orgId: string; hash: string }): Promise<boolean>;
    readonly missing: string;
    readonly done: string;
  },
): Command {
  return {
    name,
    summary: told.summary,
    usage: "SHA256 --org ID [--json]",
    positionals: 1,
    options: { ...orgOption, ...jsonOption },
    run: (call) =>
      withService(call, async (service) => {
        const { id: orgId } = await organisationOf(service, call.values);
        const hash = hashOf(call.positionals[0]);
        if (!(await told.remove(service, { orgId, hash }))) throw new Error(told.missing);
        return answer(call, { sha256: shownHash(hash), removed: true }, () => [told.done]);
      }),
  };
}

export const deviceTrustCommands: readonly Command[] = [
  rootsImport,
  rootsList,
  rootsRemove,
  ekAdd,
  ekList,
  ekRemove,
];
