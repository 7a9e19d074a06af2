/**
 * What a grant has to say. The route does everything that is common, in numbered phases, so that no grant can forget a
 * check: 1 the client proves itself, 2 the client may use this grant, 3 the grant is read (nothing is consumed),
 * 4 tokens are signed, 5 the grant is consumed in one conditional statement, 6 the answer goes out.
 */
import type { Form } from "@signet/protocol/form";
import type { Application, GrantType } from "../../../core/applications/application.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { TokenSubject } from "../../../core/tokens/claims.ts";
import type { Release } from "../../../core/tokens/issue-tokens.ts";
import type { BegunSigning } from "../../../core/tokens/signer.ts";

export interface GrantRequest {
  readonly organisation: Organisation;
  /** Authenticated, enabled, and allowed to use this grant. */
  readonly application: Application;
  readonly form: Form;
  readonly issuer: string;
  /** Milliseconds. */
  readonly now: number;
  readonly address: string;
  /** The device whose certificate came with the request, for clients that use certificates; else null. */
  readonly deviceId: string | null;
}

export interface ReadGrant {
  readonly subject: TokenSubject;
  /** SHA-256 of the code or token that was presented. */
  readonly proofHash?: string;
  /** What a browser waited for before the code was issued. */
  readonly begun?: BegunSigning;
  /**
   * Consumes the grant. Nothing has been given away before it, and nothing is when it throws.
   * @param release of the signed tokens, where there is one: happens with it or not at all
   * @returns what the answer holds beside the signed tokens
   * @throws OAuthError invalid_grant when another request was faster
   */
  commit(release?: Release): Promise<{ readonly refresh_token?: string }>;
}

export interface Grant {
  readonly grantType: GrantType;
  /** @throws OAuthError */
  read(request: GrantRequest): Promise<ReadGrant>;
}
