/** A connection to an organisation's own directory (api-v1.md), or to an identity provider (connections.md). */
import type { RecordOf } from "../../db/records.ts";
import type { ConnectionTable, ConnectionTokenTable } from "../../db/tables/connections.ts";
import { type SignInSettings, signInKinds } from "./sign-in/sign-in-settings.ts";

export const connectionKinds = ["scim", ...signInKinds] as const;
export const deletionPolicies = ["disable", "delete"] as const;
export type DeletionPolicy = (typeof deletionPolicies)[number];

type Stored = Omit<RecordOf<ConnectionTable>, "kind" | "enabled" | "deletionPolicy" | "settings">;

export interface Connection extends Stored {
  readonly kind: (typeof connectionKinds)[number];
  readonly enabled: boolean;
  /** Of a directory. */
  readonly deletionPolicy: DeletionPolicy;
  /** Null for a directory. */
  readonly settings: SignInSettings | null;
}

/** As names of connections are compared. */
export const connectionNameKey = (name: string): string => name.normalize("NFKC").toLowerCase();

export interface ConnectionKey {
  readonly orgId: string;
  readonly id: string;
}

/** Without the hash: nobody needs it. */
export type ConnectionToken = RecordOf<Omit<ConnectionTokenTable, "token_hash">>;

export const MAX_TOKENS = 10;

const messages = {
  "invalid-name": "a name has 1 to 100 characters without control characters",
  "name-taken": "another connection has this name",
  "invalid-label": "a label has at most 100 characters without control characters",
  "invalid-expiry": "a token expires in the future",
  "enforces-domain": "the people of an enforced domain sign in by it alone",
  "too-many-tokens": `a connection has at most ${MAX_TOKENS} tokens`,
} as const;

export class InvalidConnection extends Error {
  override readonly name = "InvalidConnection";
  readonly code: keyof typeof messages;
  constructor(code: keyof typeof messages) {
    super(messages[code]);
    this.code = code;
  }
}

const isText = (text: string, min: number): boolean => {
  const { length } = [...text];
  return length >= min && length <= 100 && !/[\p{Cc}\p{Cf}]/u.test(text);
};

/** @returns it without spaces around it. @throws InvalidConnection */
export function validConnectionName(name: string): string {
  const trimmed = name.trim();
  if (!isText(trimmed, 1)) throw new InvalidConnection("invalid-name");
  return trimmed;
}

/** @returns it without spaces around it. @throws InvalidConnection */
export function validTokenLabel(label: string): string {
  const trimmed = label.trim();
  if (!isText(trimmed, 0)) throw new InvalidConnection("invalid-label");
  return trimmed;
}
