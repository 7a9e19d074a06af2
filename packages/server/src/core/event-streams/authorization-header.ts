/** What a receiver wants in `Authorization` of each push (SSF 1.0 §6.1.1): sealed, and never read back. */
import type { Encryption } from "../encryption/encryption.ts";
import { sealedColumn } from "../encryption/sealed-columns.ts";
import type { EventStream, StreamKey } from "./event-stream.ts";

const rowName = ({ orgId, id }: StreamKey) => `event-stream|${orgId}|${id}`;

export const sealedStreamAuthorizations = sealedColumn({
  table: "event_stream",
  column: "authorization_header",
  key: ["org_id", "id"],
  rowName: ({ org_id, id }) => rowName({ orgId: String(org_id), id: String(id) }),
});

export const sealAuthorization = (encryption: Encryption, key: StreamKey, header: string): string =>
  encryption.seal(Buffer.from(header), rowName(key));

export const openAuthorization = (encryption: Encryption, stream: EventStream): string | undefined =>
  stream.authorizationHeader === null
    ? undefined
    : encryption.open(stream.authorizationHeader, rowName(stream)).toString();
