/** The result of inspecting a token. */
import type { Messages } from "../../../html/messages/messages.ts";

type Texts = Messages["console"]["quickstart"]["inspector"];

export type TokenKind = keyof Texts["kinds"];

/** One check. The colour only repeats the text. */
export interface Finding {
  readonly id: keyof Texts["findings"];
  readonly outcome: "good" | "warn" | "bad";
  /** A value of the token. */
  readonly value?: string;
}

export interface Inspection {
  readonly kind: TokenKind;
  readonly findings: readonly Finding[];
  /** The claims of a signed token, verified or not. */
  readonly decoded?: { readonly header: Claims; readonly payload: Claims };
  /** Only for tokens of this organisation or one of its pools. */
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
