/** The next step of a browser flow, decided for a case in a few words, and told in a few words. */
import { type Application, defaultSettings } from "../core/applications/application.ts";
import type { Consent } from "../core/consents/consent.ts";
import type { FactorStanding } from "../core/second-factors/second-factor.ts";
import { acrValues, type SignedIn } from "../core/sessions/session.ts";
import type { AuthorizationRequest, Prompt } from "../features/oauth/authorize/authorization-request.ts";
import { nextStep } from "../features/oauth/authorize/next-step.ts";
import { noRequestedAcr, type RequestedAcr } from "../features/oauth/authorize/requested-acr.ts";

const STARTED_AT = 1_800_000_000_000;
const NOW = STARTED_AT + 5_000;
const MINUTE = 60_000;

export interface Case {
  readonly prompts?: readonly Prompt[];
  readonly maxAge?: number;
  /** How long before the request came the user signed in; negative after it; undefined: nobody is signed in. */
  readonly signedInBefore?: number;
  /** Whose ID token came as the hint; null for one that is not genuine. */
  readonly hint?: "uma" | "otto" | null;
  readonly scopes?: readonly string[];
  readonly consents?: readonly Pick<Consent, "kind" | "scopes">[];
  readonly requireConsent?: boolean;
  readonly acr?: Partial<RequestedAcr>;
  readonly factors?: Partial<FactorStanding>;
  /** What the session reached; the password when absent. */
  readonly reached?: string;
}

/** How long before the request the user signed in: ten minutes, or for it; and what was consented to. */
export const BEFORE = { signedInBefore: 10 * MINUTE };
export const FOR_IT = { signedInBefore: -1_000 };
export const GRANTED = { consents: [{ kind: "user", scopes: ["openid", "email"] }] } as const;
export const FOR_ALL = { consents: [{ kind: "organisation", scopes: ["openid", "email"] }] } as const;
export const READY = { ...BEFORE, ...GRANTED };

const NO_FACTORS: FactorStanding = {
  hasTotp: false,
  passkeys: 0,
  recoveryCodes: 0,
  isRemembered: false,
  isRequired: false,
  mayEnrol: true,
};

function application(requireConsent: boolean): Application {
  return {
    orgId: "org",
    id: "app",
    name: "App",
    clientType: "confidential",
    settings: { ...defaultSettings("confidential"), requireConsent },
    secrets: [],
    createdAt: 0,
    updatedAt: 0,
    disabledAt: null,
    version: 1,
  };
}

function request({
  prompts = [],
  maxAge,
  scopes = ["openid", "email"],
  ...asked
}: Case): AuthorizationRequest {
  return {
    application: application(asked.requireConsent ?? true),
    redirectUri: "https://app.example/callback",
    responseMode: "query",
    state: undefined,
    scopes,
    resources: [],
    codeChallenge: null,
    nonce: null,
    requestedClaims: { userinfo: {}, idToken: {} },
    prompts,
    maxAgeSeconds: maxAge,
    loginHint: undefined,
    idTokenHint: undefined,
    uiLocales: undefined,
    acr: { ...noRequestedAcr, ...asked.acr },
  };
}

function uma(authTime: number, acr: string = acrValues.password): SignedIn {
  return {
    session: {
      orgId: "org",
      id: "session",
      userId: "uma",
      authTime,
      amr: ["pwd"],
      acr,
      createdAt: authTime,
      lastSeenAt: NOW,
      expiresAt: NOW + MINUTE,
    },
    user: {
      homeOrgId: "org",
      orgId: "org",
      id: "uma",
      email: "uma@acme.example",
      emailVerified: true,
      username: null,
      firstname: "Uma",
      surname: "User",
      phone: null,
      locale: null,
      role: "Standard",
      attributes: {},
      membership: { groups: [], attributes: {} },
      createdAt: 0,
      disabledAt: null,
    },
  };
}

function consent({ kind, scopes }: Pick<Consent, "kind" | "scopes">): Consent {
  const userId = kind === "user" ? "uma" : null;
  return {
    orgId: "org",
    id: `by-${kind}`,
    kind,
    applicationId: "app",
    userId,
    scopes,
    fingerprints: {},
    grantedBy: "x",
    grantedAt: 0,
    revokedAt: null,
  };
}

/** The step in words: its kind, and what it rests on or says. */
export function decided(asked: Case): string {
  const { signedInBefore, hint, consents = [] } = asked;
  const step = nextStep({
    request: request(asked),
    startedAt: STARTED_AT,
    now: NOW,
    signedIn: signedInBefore === undefined ? undefined : uma(STARTED_AT - signedInBefore, asked.reached),
    factors: { ...NO_FACTORS, ...asked.factors },
    hintedUser: hint,
    asked: { scopes: request(asked).scopes, fingerprints: {} },
    consents: consents.map(consent),
  });
  if (step.kind === "refuse") return `refuse ${step.error.code}`;
  if (step.kind === "second-factor" || step.kind === "enrolment") return `${step.kind} ${step.atLeast}`;
  if (step.kind === "issue-code") return `code resting on ${step.consentId ?? "nothing"}`;
  return step.kind;
}
