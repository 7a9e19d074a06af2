/** GET /oauth/manage/{org}/signing-keys: the organisation's signing keys, and the CA of its devices. */
import { X509Certificate } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { issuerOf, type Organisation } from "../../../core/organisations/organisation.ts";
import { type KeyTimes, keyState } from "../../../core/signing-keys/signing-key.ts";
import { listSigningKeys } from "../../../core/signing-keys/signing-keys.store.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { findLastChanges } from "../../../page-kit/actor-names.ts";
import { consoleFrame, doneKey } from "../../../page-kit/console-frame.ts";
import { consolePath, consoleRoute, requireAdministrator, show, type Visit } from "../../../page-kit/page.ts";
import { keyRotationRoutes, type SigningKeysDeps } from "./rotation.route.ts";
import { type ShownKey, signingKeysPage } from "./signing-keys.page.ts";

export function signingKeysRoutes(app: FastifyInstance, deps: SigningKeysDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/signing-keys", { get: showKeys });
  keyRotationRoutes(app, deps);
}

async function showKeys(deps: SigningKeysDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const { id: orgId } = organisation;
  const signedIn = await requireAdministrator(deps, visit);
  const frame = await consoleFrame(deps, visit, signedIn, "signingKeys");
  // Creates the keys of every JWKS if nobody has needed them yet.
  await deps.keys.published(orgId);
  const times = await listSigningKeys(deps.database.query, orgId);
  const now = deps.clock();
  const keys = times.map((key) => shownKey(key, times, { organisation, now }));
  const generations = await deps.deviceCa.generations(orgId);
  const issuer = issuerOf(deps.baseUrl, orgId);
  const page = signingKeysPage({
    ...frame,
    organisationName: organisation.name,
    issuer,
    jwksUri: `${issuer}/.well-known/jwks.json`,
    rotationDays: deps.keyRotationDays,
    keys: keys.sort(byAlgorithm),
    ca: {
      pemUri: `/oauth/${orgId}/devices/ca.pem`,
      rotateUri: consolePath(organisation, "/signing-keys/device-ca/rotate"),
      generations: generations.map(({ generation, notBefore, notAfter, retiredAt, der }) => ({
        ...{ generation, notBefore, notAfter, retiredAt },
        // As `openssl x509 -fingerprint -sha256` writes it.
        fingerprint: new X509Certificate(der).fingerprint256,
      })),
    },
    done: doneKey(visit, frame.messages.console.signingKeys.done),
    lastChange: await findNewestChange(deps, orgId, times, frame.messages),
  });
  await show(visit, frame, page);
}

function shownKey(
  key: KeyTimes,
  keys: readonly KeyTimes[],
  { organisation, now }: { organisation: Organisation; now: number },
): ShownKey {
  const state = keyState(key, keys, now);
  const isNewest = key.retireAt === null;
  const at = (act: string) => consolePath(organisation, `/signing-keys/${key.alg}/${act}`);
  return { ...key, state, ...(isNewest ? { rotateUri: at("rotate"), revokeUri: at("revoke") } : {}) };
}

/** The newest key of each algorithm first. */
const byAlgorithm = (one: ShownKey, other: ShownKey): number =>
  one.alg.localeCompare(other.alg, "en") || other.activeFrom - one.activeFrom;

async function findNewestChange(
  deps: SigningKeysDeps,
  orgId: string,
  keys: readonly KeyTimes[],
  messages: Messages,
): Promise<{ who: string; at: number } | undefined> {
  const kids = keys.map(({ kid }) => kid);
  const changes = await findLastChanges(deps, orgId, kids, messages);
  return [...changes.values()].sort((one, other) => other.at - one.at)[0];
}
