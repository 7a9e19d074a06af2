/** What a logout message of the identity provider says, once its signature is good (SAML 2.0 Core §3.7, Profiles §4.4). */
import type { KeyObject } from "node:crypto";
import {
  attributeOf,
  childrenNamed,
  isElement,
  onlyChild,
  textOf,
  type XmlElement,
  XmlRefused,
} from "../../../../core/connections/saml/xml.ts";
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";
import { isStorable } from "../../../../core/connections/sign-in/mapping.ts";
import { type NameId, readNameId } from "./name-id.ts";
import { requireNow, TOLERANCE_MS, timeOf } from "./read-assertion.ts";
import { decryptElement } from "./xml-decryption.ts";

/** Of the record. */
export interface LogoutContext {
  readonly entityId: string;
  readonly sloUri: string;
  readonly spEntityId: string;
  /** Opens an encrypted name; loaded by need. */
  key(): KeyObject;
  readonly now: number;
}

export interface LogoutRequest {
  readonly id: string;
  /** Milliseconds: as long as it could come again. */
  readonly usedUntil: number;
  readonly nameId: NameId;
  /** Undefined: all sessions of the name. */
  readonly sessionIndexes: readonly string[] | undefined;
}

/** Of the message, whatever its NotOnOrAfter says: a used one is remembered for as long. */
const MAX_AGE_MS = 600_000;
const MAX_SESSIONS = 50;
const MAX_INDEX = 255;

/** @throws ConnectionSignInFailure, XmlRefused */
export async function readLogoutRequest(root: XmlElement, context: LogoutContext): Promise<LogoutRequest> {
  const { id, issuedAt } = requireMessage(root, "LogoutRequest", context);
  requireNow(root, context.now);
  const nameId = await namedSubject(root, context);
  const indexes = childrenNamed(root, "protocol", "SessionIndex").map(textOf);
  if (indexes.length > MAX_SESSIONS) throw new XmlRefused("it names too many sessions");
  // One that is too long to be kept was not: then all of the name end, rather than none.
  const isKept = (index: string) => index !== "" && index.length <= MAX_INDEX && isStorable(index);
  return {
    ...{ id, nameId, usedUntil: issuedAt + MAX_AGE_MS + TOLERANCE_MS },
    sessionIndexes: indexes.length > 0 && indexes.every(isKept) ? indexes : undefined,
  };
}

/**
 * Whatever its status: who signs out here has done so already.
 * @param requestId undefined when the provider has not brought back which one it answers
 * @throws ConnectionSignInFailure, XmlRefused
 */
export function requireLogoutResponse(
  root: XmlElement,
  context: LogoutContext,
  requestId: string | undefined,
): void {
  requireMessage(root, "LogoutResponse", context);
  if (requestId !== undefined && attributeOf(root, "InResponseTo") !== requestId)
    throw new ConnectionSignInFailure("response-unsolicited", { detail: "InResponseTo" });
}

/** To us, from this provider, now: Profiles §4.4.4 wants the issuer, Bindings §3.4.5.2 and §3.5.5.2 the destination. */
function requireMessage(
  root: XmlElement,
  name: "LogoutRequest" | "LogoutResponse",
  { entityId, sloUri, now }: LogoutContext,
): { readonly id: string; readonly issuedAt: number } {
  const id = attributeOf(root, "ID") ?? "";
  const isNamed = /^[A-Za-z_][\w.-]{0,254}$/.test(id);
  if (!isElement(root, "protocol", name) || attributeOf(root, "Version") !== "2.0" || !isNamed)
    throw new XmlRefused(`it is no SAML 2.0 ${name}`);
  const issuer = onlyChild(root, "assertion", "Issuer");
  if (!issuer || textOf(issuer) !== entityId)
    throw new ConnectionSignInFailure("issuer-mismatch", { detail: `Issuer of the ${name}` });
  if (attributeOf(root, "Destination") !== sloUri)
    throw new ConnectionSignInFailure("destination-mismatch", { detail: `Destination of the ${name}` });
  const issuedAt = timeOf(root, "IssueInstant");
  if (issuedAt === undefined || issuedAt > now + TOLERANCE_MS || issuedAt < now - MAX_AGE_MS)
    throw new ConnectionSignInFailure("token-expired", { detail: `IssueInstant of the ${name}` });
  return { id, issuedAt };
}

async function namedSubject(root: XmlElement, { spEntityId, key }: LogoutContext): Promise<NameId> {
  const plain = onlyChild(root, "assertion", "NameID");
  const encrypted = onlyChild(root, "assertion", "EncryptedID");
  if ((plain === undefined) === (encrypted === undefined))
    throw new ConnectionSignInFailure("subject-missing", { detail: "NameID is missing" });
  if (plain) return readNameId(plain, spEntityId);
  if (!encrypted) throw new ConnectionSignInFailure("subject-missing");
  const { element } = await decryptElement(encrypted, { key: key(), isSigned: true }, "NameID");
  return readNameId(element, spEntityId);
}
