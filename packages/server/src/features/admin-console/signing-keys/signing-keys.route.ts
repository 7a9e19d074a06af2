/** The organisation's signing keys and the CA of its devices, and how they are rotated and revoked: each confirmed first. */
import type { FastifyInstance } from "fastify";
import type { DeviceCa } from "../../../core/device-ca/authority.ts";
import type { CaGeneration } from "../../../core/device-ca/generation.ts";
import { ConcurrentRotation as ConcurrentCaRotation } from "../../../core/device-ca/rotation.ts";
import { issuerOf } from "../../../core/organisations/organisation.ts";
import { type KeyTimes, keyState, PUBLISH_AHEAD_MS } from "../../../core/signing-keys/signing-key.ts";
import { listSigningKeys } from "../../../core/signing-keys/signing-keys.store.ts";
import { ConcurrentRotation, type SigningKeys } from "../../../core/signing-keys/signing-keys.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import { hiddenFields } from "../../../html/components/form.ts";
import { type Html, html } from "../../../html/html.ts";
import { findLastChanges } from "../../../page-kit/actor-names.ts";
import {
  type Confirmation,
  type ConfirmationResult,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { doneKey, readingRoute } from "../../../page-kit/console-frame.ts";
import { type ConsoleDeps, consolePath, type Visit } from "../../../page-kit/page.ts";
import { signingKeysPage } from "./signing-keys.page.ts";

export interface SigningKeysDeps extends ConsoleDeps {
  readonly keys: Pick<SigningKeys, "published" | "rotate">;
  readonly deviceCa: Pick<DeviceCa, "generations" | "rotate">;
  /** Days; 0: keys are not rotated automatically. */
  readonly keyRotationDays: number;
}

export function signingKeysRoutes(app: FastifyInstance, deps: SigningKeysDeps): void {
  readingRoute(app, deps, "/oauth/manage/:org/signing-keys", "signingKeys", showKeys);
  confirmationRoute(app, deps, "/oauth/manage/:org/signing-keys/:alg/rotate", rotation("rotate"));
  confirmationRoute(app, deps, "/oauth/manage/:org/signing-keys/:alg/revoke", rotation("revoke"));
  confirmationRoute(app, deps, "/oauth/manage/:org/signing-keys/device-ca/rotate", caRotation);
}

async function showKeys(deps: SigningKeysDeps, visit: Visit, frame: ConsoleFrame): Promise<Html> {
  const { id: orgId } = visit.organisation;
  // Creates the keys of every JWKS if nobody has needed them yet.
  await deps.keys.published(orgId);
  const keys = await listSigningKeys(deps.database.query, orgId);
  const now = deps.clock();
  const issuer = issuerOf(deps.baseUrl, orgId);
  const kids = keys.map(({ kid }) => kid);
  const changes = await findLastChanges(deps, orgId, kids, frame.messages);
  return signingKeysPage({
    ...frame,
    issuer,
    jwksUri: `${issuer}/.well-known/jwks.json`,
    caPemUri: `/oauth/${orgId}/devices/ca.pem`,
    rotationDays: deps.keyRotationDays,
    // The newest key of each algorithm first.
    keys: keys
      .map((key) => ({ ...key, state: keyState(key, keys, now) }))
      .sort((one, other) => one.alg.localeCompare(other.alg, "en") || other.activeFrom - one.activeFrom),
    generations: await deps.deviceCa.generations(orgId),
    done: doneKey(visit, frame.messages.console.signingKeys.done),
    lastChange: [...changes.values()].sort((one, other) => other.at - one.at)[0],
  });
}

const aboutKeys: Pick<Confirmation<never, unknown>, "current" | "backUri" | "breadcrumbs"> = {
  current: "signingKeys",
  backUri: (organisation) => consolePath(organisation, "/signing-keys"),
  breadcrumbs: ({ messages, consoleUri }) => [
    { label: messages.console.frame.pages.signingKeys, uri: consoleUri("/signing-keys") },
  ],
};

const conflict: ConfirmationResult = { kind: "changed" };

/** Another request, or the same one before, has already made a successor. */
async function unlessRotated(rotated: Promise<unknown>, text: string): Promise<ConfirmationResult> {
  try {
    await rotated;
    return done(text);
  } catch (error) {
    if (error instanceof ConcurrentRotation || error instanceof ConcurrentCaRotation) return conflict;
    throw error;
  }
}

/** Replaces the newest key of an algorithm; a revoked one leaves the JWKS immediately. */
function rotation(act: "rotate" | "revoke"): Confirmation<SigningKeysDeps, KeyTimes> {
  const compromised = act === "revoke";
  return {
    ...aboutKeys,
    load: async ({ database }, { id: orgId }, { alg }) => {
      const keys = await listSigningKeys(database.query, orgId);
      return keys.find((key) => key.alg === alg && key.retireAt === null);
    },
    question: (messages, { alg, kid }, organisation) => {
      const { rotate, revoke } = messages.console.signingKeys;
      return {
        ...(compromised
          ? { text: html`<p>${revoke.text}</p><p>${revoke.textMore}</p>`, name: organisation.name }
          : { text: rotate.text({ seconds: PUBLISH_AHEAD_MS / 1000 }), isHarmless: true }),
        heading: (compromised ? revoke : rotate).heading({ algorithm: alg }),
        confirm: (compromised ? revoke : rotate).confirm,
        confirmId: `key-${act}`,
        // The key that the page is about: a duplicate submission rotates nothing more.
        fields: hiddenFields([{ name: "kid", value: kid }]),
      };
    },
    apply: (deps, { orgId, ...by }, { alg }, { values }) => {
      const replaces = values.get("kid") ?? "";
      const rotated = deps.keys.rotate(orgId, alg, { ...by, replaces, compromised });
      return unlessRotated(rotated, compromised ? "revoked" : "rotated");
    },
  };
}

const caRotation: Confirmation<SigningKeysDeps, CaGeneration> = {
  ...aboutKeys,
  load: async ({ deviceCa }, { id }) => (await deviceCa.generations(id))[0],
  question: (messages, { generation }) => {
    const { rotateCa } = messages.console.signingKeys;
    return {
      heading: rotateCa.heading,
      text: rotateCa.text,
      confirm: rotateCa.confirm,
      confirmId: "device-ca-rotate",
      isHarmless: true,
      fields: hiddenFields([{ name: "generation", value: String(generation) }]),
    };
  },
  apply: async (deps, by, { generation }, { values }) => {
    if (values.get("generation") !== String(generation)) return conflict;
    return unlessRotated(deps.deviceCa.rotate(by), "ca-rotated");
  },
};
