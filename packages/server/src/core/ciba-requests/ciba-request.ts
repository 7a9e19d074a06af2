/**
 * An authentication request of CIBA (OpenID Connect CIBA Core 1.0, poll mode): five minutes for one decision by the user whom the
 * client has named, and one use.
 */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { newUuid } from "@signet/protocol/uuid";
import type { AuthorizationDetail } from "../authorization-details/detail-type.ts";
import type { DeviceAuthorization } from "../device-authorizations/device-authorization.ts";

export const CIBA_REQUEST_LIFETIME_SECONDS = 300;

export interface CibaRequest
  extends Pick<
    DeviceAuthorization,
    | ("orgId" | "applicationId" | "scopes" | "definitions" | "resources" | "status" | "approval")
    | ("createdAt" | "expiresAt" | "familyId" | "signing")
  > {
  /** SHA-256 of the auth_req_id. */
  readonly requestHash: string;
  /** In the address of its page; no credential. */
  readonly id: string;
  /** Who is asked: nobody else can decide. */
  readonly userId: string;
  readonly authorizationDetails: readonly AuthorizationDetail[];
  /** Text of the client, shown to the user as such. */
  readonly bindingMessage: string | null;
  /** As requested, in order of preference. */
  readonly acrValues: string | null;
}

export interface NewCibaIds {
  readonly id: string;
  readonly authReqId: string;
  readonly requestHash: string;
}

export function newCibaIds(): NewCibaIds {
  const authReqId = randomSecret("sgn_ar_");
  return { id: newUuid(), authReqId, requestHash: sha256Base64url(authReqId) };
}

const MAX_BINDING_MESSAGE = 100;

/** Plain text of one line: it has to look the same on both devices (CIBA Core §7.1), and cannot pass for a part of the page. */
export const isBindingMessage = (text: string): boolean =>
  [...text].length <= MAX_BINDING_MESSAGE &&
  text.isWellFormed() &&
  text.trim() !== "" &&
  !/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]/u.test(text);

/**
 * How long the request waits: what the client asks for (`requested_expiry`, CIBA Core §7.1), within the limit.
 * @returns undefined for what is no positive number of seconds
 */
export function requestLifetime(asked: string | undefined): number | undefined {
  if (asked === undefined) return CIBA_REQUEST_LIFETIME_SECONDS;
  if (!/^[1-9]\d{0,8}$/.test(asked)) return undefined;
  return Math.min(Number(asked), CIBA_REQUEST_LIFETIME_SECONDS);
}
