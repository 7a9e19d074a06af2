/** The result of inspecting a token. */
import type { Messages } from "../../../html/messages/messages.ts";

type Texts = Messages["console"]["quickstart"]["inspector"];

export type TokenKind = keyof Texts["kinds"];

/** One check. The colour only repeats the text. */
export interface Finding {
  readonly id: keyof Texts["findings"];
  readonly outcome: "good" | "warn" | "bad";
  /** A value of the token. */
  readonly value?: string | undefined;
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

const finding =
  (outcome: Finding["outcome"]) =>
  (id: Finding["id"], value?: string): Finding => ({ id, outcome, value });

export const good = finding("good");
export const warn = finding("warn");
export const bad = finding("bad");
