/** Who an assertion is about, for whom, and until when (SAML 2.0 Core §2, Profiles §4.1.4.2). It is signed: see read-response.ts. */
import {
  attributeOf,
  childrenNamed,
  childrenOf,
  onlyChild,
  textOf,
  type XmlElement,
  XmlRefused,
} from "../../../../core/connections/saml/xml.ts";
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";
import { type Claims, isStorable } from "../../../../core/connections/sign-in/mapping.ts";
import type { Expected } from "./expected.ts";
import { type NameId, readNameId, TRANSIENT } from "./name-id.ts";

export interface Assertion {
  readonly id: string;
  readonly subject: string;
  /** Undefined where an attribute is the subject, and there is none. */
  readonly nameId: NameId | undefined;
  readonly sessionIndex: string | undefined;
  /** Attributes by their names, `NameID`, and `acr` of the authentication context. */
  readonly claims: Claims;
  /** Milliseconds. */
  readonly authenticatedAt: number;
  /** From then on it is refused for its age. */
  readonly expiresAt: number;
}

export const TOLERANCE_MS = 60_000;
const BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer";
const MAX_SUBJECT = 255;

export function readAssertion(assertion: XmlElement, expected: Expected): Assertion {
  const id = attributeOf(assertion, "ID") ?? "";
  if (id === "" || attributeOf(assertion, "Version") !== "2.0")
    throw new XmlRefused("it is no SAML 2.0 assertion");
  const issuer = onlyChild(assertion, "assertion", "Issuer");
  if (!issuer || textOf(issuer) !== expected.entityId)
    throw new ConnectionSignInFailure("issuer-mismatch", { detail: "Issuer of the assertion" });
  const subject = onlyChild(assertion, "assertion", "Subject");
  if (!subject) throw new ConnectionSignInFailure("subject-missing");
  requireConditions(assertion, expected);
  const expiresAt = requireBearer(subject, expected);
  const statement = authentication(assertion, expected);
  const claims = { ...attributesOf(assertion), ...statement.claims };
  const nameId = nameIdOf(subject, expected);
  return {
    ...{ id, expiresAt: expiresAt + TOLERANCE_MS, nameId },
    subject:
      expected.subjectAttribute === null
        ? requireNameId(nameId)
        : subjectIn(claims, expected.subjectAttribute),
    ...{ sessionIndex: statement.sessionIndex, authenticatedAt: statement.authenticatedAt },
    claims: { ...claims, ...(nameId === undefined ? {} : { NameID: nameId.text }) },
  };
}

const expired = (detail: string) => new ConnectionSignInFailure("token-expired", { detail });

/** xs:dateTime in UTC (Core §1.3.3). */
export function timeOf(element: XmlElement, name: string): number | undefined {
  const text = attributeOf(element, name);
  if (text === undefined) return undefined;
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(text);
  const time = isTime ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw new XmlRefused(`${name} is no time`);
  return time;
}

/** @throws ConnectionSignInFailure token-expired */
export function requireNow(element: XmlElement, now: number): void {
  const notBefore = timeOf(element, "NotBefore");
  const notOnOrAfter = timeOf(element, "NotOnOrAfter");
  if (notBefore !== undefined && notBefore > now + TOLERANCE_MS)
    throw expired(`NotBefore of ${element.localName}`);
  if (notOnOrAfter !== undefined && notOnOrAfter + TOLERANCE_MS <= now)
    throw expired(`NotOnOrAfter of ${element.localName}`);
}

const knownConditions: readonly string[] = ["AudienceRestriction", "OneTimeUse", "ProxyRestriction"];

/** A condition that is not known makes it invalid (Core §2.5.1.1). */
function requireConditions(assertion: XmlElement, { spEntityId, now }: Expected): void {
  const conditions = onlyChild(assertion, "assertion", "Conditions");
  const restrictions = conditions ? childrenNamed(conditions, "assertion", "AudienceRestriction") : [];
  if (!conditions || restrictions.length === 0)
    throw new ConnectionSignInFailure("audience-mismatch", { detail: "AudienceRestriction is missing" });
  if (!childrenOf(conditions).every(({ localName }) => knownConditions.includes(localName)))
    throw new XmlRefused("it has a condition that is not known");
  const isForUs = (restriction: XmlElement) =>
    childrenNamed(restriction, "assertion", "Audience").some((audience) => textOf(audience) === spEntityId);
  if (!restrictions.every(isForUs))
    throw new ConnectionSignInFailure("audience-mismatch", { detail: "Audience" });
  requireNow(conditions, now);
}

/** One confirmation that fits is enough (Profiles §4.1.4.2). @returns until when it may be presented */
function requireBearer(subject: XmlElement, expected: Expected): number {
  const all = childrenNamed(subject, "assertion", "SubjectConfirmation").filter(
    (one) => attributeOf(one, "Method") === BEARER,
  );
  let failure = new ConnectionSignInFailure("subject-mismatch", { detail: "no bearer SubjectConfirmation" });
  for (const confirmation of all) {
    try {
      return confirmedUntil(confirmation, expected);
    } catch (error) {
      if (!(error instanceof ConnectionSignInFailure)) throw error;
      failure = error;
    }
  }
  throw failure;
}

function confirmedUntil(confirmation: XmlElement, { acsUri, requestId, now }: Expected): number {
  const data = onlyChild(confirmation, "assertion", "SubjectConfirmationData");
  if (!data || attributeOf(data, "Recipient") !== acsUri)
    throw new ConnectionSignInFailure("destination-mismatch", { detail: "Recipient" });
  if (attributeOf(data, "InResponseTo") !== requestId)
    throw new ConnectionSignInFailure("response-unsolicited", { detail: "InResponseTo of the assertion" });
  requireNow(data, now);
  const until = timeOf(data, "NotOnOrAfter");
  if (until === undefined) throw expired("NotOnOrAfter of SubjectConfirmationData is missing");
  return until;
}

/** Without one nobody has signed in. */
function authentication(assertion: XmlElement, { now }: Expected) {
  const [statement] = childrenNamed(assertion, "assertion", "AuthnStatement");
  if (!statement)
    throw new ConnectionSignInFailure("subject-missing", { detail: "AuthnStatement is missing" });
  const sessionEnds = timeOf(statement, "SessionNotOnOrAfter");
  if (sessionEnds !== undefined && sessionEnds + TOLERANCE_MS <= now) throw expired("SessionNotOnOrAfter");
  const authenticatedAt = timeOf(statement, "AuthnInstant");
  if (authenticatedAt === undefined) throw expired("AuthnInstant is missing");
  if (authenticatedAt > now + TOLERANCE_MS) throw expired("AuthnInstant");
  const context = onlyChild(statement, "assertion", "AuthnContext");
  const reference = context && onlyChild(context, "assertion", "AuthnContextClassRef");
  return {
    authenticatedAt,
    sessionIndex: attributeOf(statement, "SessionIndex"),
    // An attribute of this name says nothing about how somebody signed in.
    claims: { acr: reference && textOf(reference) },
  };
}

const refusedName = (detail: string) => new ConnectionSignInFailure("nameid-refused", { detail });

function nameIdOf(subject: XmlElement, { spEntityId }: Expected): NameId | undefined {
  const element = onlyChild(subject, "assertion", "NameID");
  return element && readNameId(element, spEntityId);
}

function requireNameId(nameId: NameId | undefined): string {
  if (nameId === undefined || nameId.text === "")
    throw new ConnectionSignInFailure("subject-missing", { detail: "NameID is missing" });
  if (nameId.attributes["Format"] === TRANSIENT)
    throw refusedName("it is transient: another one at each sign-in");
  return requireStorable(nameId.text);
}

function subjectIn(claims: Claims, name: string): string {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  if (typeof value !== "string" || value === "")
    throw new ConnectionSignInFailure("subject-missing", { detail: "the attribute has not one value" });
  return requireStorable(value);
}

/** Spaces around it would make two subjects that look like one. */
function requireStorable(text: string): string {
  if (text.length > MAX_SUBJECT || text !== text.trim() || !isStorable(text))
    throw refusedName(`it has more than ${MAX_SUBJECT} characters, or some that are none of a name`);
  return text;
}

/** By Name, and by FriendlyName where no attribute has it as its Name; several values are a list. */
function attributesOf(assertion: XmlElement): Claims {
  const all = childrenNamed(assertion, "assertion", "AttributeStatement").flatMap((statement) =>
    childrenNamed(statement, "assertion", "Attribute").map((attribute) => ({
      name: attributeOf(attribute, "Name") ?? "",
      friendlyName: attributeOf(attribute, "FriendlyName"),
      values: childrenNamed(attribute, "assertion", "AttributeValue")
        .filter((value) => childrenOf(value).length === 0)
        .map(textOf),
    })),
  );
  const byName = new Map<string, string[]>();
  for (const { name, values } of all) byName.set(name, [...(byName.get(name) ?? []), ...values]);
  for (const { name, friendlyName } of all)
    if (friendlyName !== undefined && !byName.has(friendlyName))
      byName.set(friendlyName, byName.get(name) ?? []);
  const claims = [...byName].map(
    ([name, values]) => [name, values.length === 1 ? values[0] : values] as const,
  );
  return Object.fromEntries(claims);
}
