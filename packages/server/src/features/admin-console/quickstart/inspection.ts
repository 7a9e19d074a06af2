/** What is found out about a token that an administrator shows. */
import type { Messages } from "../../../html/messages/messages.ts";

type Texts = Messages["console"]["quickstart"]["inspector"];

export type TokenKind = keyof Texts["kinds"];

/** One thing that was looked at. The colour only repeats what the words say. */
export interface Finding {
  readonly id: keyof Texts["findings"];
  readonly outcome: "good" | "warn" | "bad";
  /** As the token has it: a name, an address. */
  readonly value?: string;
}

export interface Inspection {
  readonly kind: TokenKind;
  readonly findings: readonly Finding[];
  /** What a signed token says, believed or not. */
  readonly decoded?: { readonly header: Claims; readonly payload: Claims };
  /** Of this organisation; only for what it, or one of its pools, has made. */
  readonly application?: { readonly id: string; readonly name: string } | undefined;
  readonly user?: { readonly id: string; readonly email: string } | undefined;
  readonly scopes?: readonly string[];
  /** Milliseconds. */
  readonly issuedAt?: number;
  readonly expiresAt?: number | null;
}

export type Claims = Readonly<Record<string, unknown>>;

export const good = (id: Finding["id"], value?: string): Finding => finding("good", id, value);
export const warn = (id: Finding["id"], value?: string): Finding => finding("warn", id, value);
export const bad = (id: Finding["id"], value?: string): Finding => finding("bad", id, value);

const finding = (outcome: Finding["outcome"], id: Finding["id"], value?: string): Finding => ({
  id,
  outcome,
  ...(value === undefined ? {} : { value }),
});
