/** The secret that Signet has at an identity provider: sealed at rest, and shown by its last characters only. */
import type { Encryption } from "../../encryption/encryption.ts";
import { sealedColumn } from "../../encryption/sealed-columns.ts";
import type { ConnectionKey } from "../connection.ts";

const rowName = ({ orgId, id }: ConnectionKey) => `connection|${orgId}|${id}`;

export const sealedConnectionSecrets = sealedColumn({
  table: "connection",
  column: "secret",
  key: ["org_id", "id"],
  rowName: ({ org_id, id }) => rowName({ orgId: String(org_id), id: String(id) }),
});

export const sealSecret = (encryption: Encryption, key: ConnectionKey, secret: string): string =>
  encryption.seal(Buffer.from(secret), rowName(key));

export function openSecret(
  encryption: Encryption,
  connection: ConnectionKey & { readonly secret: string | null },
): string | undefined {
  const { secret } = connection;
  return secret === null ? undefined : encryption.open(secret, rowName(connection)).toString();
}

const HINT = 4;

/** The last four characters; none of a secret that is so short that they would be most of it. */
export const secretHint = (secret: string): string =>
  secret.length >= 2 * HINT ? `…${secret.slice(-HINT)}` : "…";
