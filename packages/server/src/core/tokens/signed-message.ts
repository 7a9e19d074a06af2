/**
 * Messages that the organisation signs beside tokens (modern-oauth.md §2, §5 and §7). For an application of a signing pool its agents
 * sign them, and see each as a `use` of its own: none of them can be taken for a token.
 */
import { hash } from "node:crypto";
import type { Application, GrantType } from "../applications/application.ts";

/** The header's `typ`. JARM and userinfo have none of their own: what such a message has no claims of tells it from an ID token. */
export const messageTypes = {
  /** JARM §2.1. */
  authorization_response: "JWT",
  /** draft-ietf-oauth-identity-assertion-authz-grant. */
  id_jag: "oauth-id-jag+jwt",
  /** RFC 9701 §5. */
  introspection_response: "token-introspection+jwt",
  /** OpenID Connect Core §5.3.2. */
  userinfo_response: "JWT",
} as const;

export type MessageUse = keyof typeof messageTypes;
export const messageUses = Object.keys(messageTypes) as readonly MessageUse[];

export interface MessageToSign {
  readonly use: MessageUse;
  /** Without `iat`, `exp` and `jti`, which are of the moment of the signature. */
  readonly claims: Readonly<Record<string, unknown>> & { readonly iss: string; readonly aud: string };
  /** Without one the message has no `exp`. */
  readonly lifetimeSeconds?: number;
}

/** Whom a message is for, and what it answers: agents decide by it. */
export interface MessageContext {
  readonly application: Application;
  /** The client's network address. */
  readonly address: string;
  /** What was asked for; of an answer that belongs to no grant, what it answers. */
  readonly grantType: GrantType | "introspection" | "userinfo";
  /** The user that it tells of; null for the client itself. */
  readonly userId: string | null;
  /** RFC 8707. */
  readonly resources?: readonly string[];
  /**
   * Whether the client has signed the authorization request that the message rests on (RFC 9101). Userinfo rests on its token's;
   * an introspection, an error alone and an ID-JAG on none that is known.
   */
  readonly requestSigned?: boolean | null | undefined;
  /** SHA-256 of what was presented: requests that differ in it never get each other's message. */
  readonly proofHash?: string;
  /** Nobody has authenticated: such messages have only a small part of the queue. */
  readonly isAnonymous?: true;
}

export interface SignedMessage {
  readonly jws: string;
  /** Seconds since the epoch. */
  readonly exp: number;
}

/** The same for messages that say the same. */
export const messageHash = ({ use, claims, lifetimeSeconds }: MessageToSign): string =>
  hash("sha256", JSON.stringify([use, claims, lifetimeSeconds ?? null]), "base64url");
