/** Certificate authorities of clients in a file, by certificate: never a private key. */
import { listClientAuthorities } from "../../client-authorities/client-authorities.store.ts";
import {
  type ClientAuthoritySettings,
  changeClientAuthority,
  createClientAuthority,
  deleteClientAuthority,
} from "../../client-authorities/client-authorities.ts";
import { normalisedCertificate } from "../../client-authorities/client-authority.ts";
import { type FileRecord, type Section, textOf, toFileRecord } from "./section.ts";

const settingsOf = (record: FileRecord) => record as unknown as ClientAuthoritySettings;

export const authoritySection: Section = {
  kind: "client-authority",
  isUnique: true,
  references: [],
  defaults: { enabled: true },
  keyOf: (record) => textOf(record, "certificate"),
  nameOf: (record) => textOf(record, "name"),
  normalise: (item) => {
    const [name, certificate] = [textOf(item, "name").trim(), textOf(item, "certificate")];
    return toFileRecord({ enabled: true, ...item, name, certificate: normalisedCertificate(certificate) });
  },
  // What a certificate says, and whether it is valid now, is looked at where the file is applied.
  check: () => undefined,
  read: async (db, orgId) =>
    (await listClientAuthorities(db, orgId)).map(({ id, name, certificate, enabled }) => ({
      id,
      record: toFileRecord({ name, certificate: normalisedCertificate(certificate), enabled }),
    })),
  create: (deps, act, record) => createClientAuthority(deps, { ...act, settings: settingsOf(record) }),
  // The certificate is its key, and the same.
  change: (deps, act, id, record) => {
    const { name, enabled } = settingsOf(record);
    return changeClientAuthority(deps, { ...act, id, change: { name, enabled } });
  },
  remove: (deps, act, id) => deleteClientAuthority(deps, { ...act, id }),
};
