/** Rotating keys, and revoking those that others may know: asked on a page of their own. */
import type { FastifyInstance } from "fastify";
import type { CaGeneration } from "../../../core/device-ca/generation.ts";
import { RotatedMeanwhile as CaRotatedMeanwhile } from "../../../core/device-ca/rotation.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { type KeyTimes, PUBLISH_AHEAD_MS } from "../../../core/signing-keys/signing-key.ts";
import { listSigningKeys } from "../../../core/signing-keys/signing-keys.store.ts";
import { RotatedMeanwhile } from "../../../core/signing-keys/signing-keys.ts";
import { hiddenFields } from "../../../html/components/form.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import { html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { confirmedActRoute } from "../../../page-kit/confirmed-act.ts";
import { consolePath } from "../../../page-kit/visit.ts";
import type { SigningKeysDeps } from "./signing-keys-deps.ts";

export function keyActRoutes(app: FastifyInstance, deps: SigningKeysDeps): void {
  rotateRoute(app, deps);
  revokeRoute(app, deps);
  rotateCaRoute(app, deps);
}

/** The algorithm's newest key. */
async function newestKey(
  { database }: SigningKeysDeps,
  { id: orgId }: Organisation,
  { alg }: Readonly<Record<string, string>>,
): Promise<KeyTimes | undefined> {
  const keys = await listSigningKeys(database.query, orgId);
  return keys.find((key) => key.alg === alg && key.retireAt === null);
}

/** The key that the page was about: a button that is pressed twice rotates once. */
const about = ({ kid }: KeyTimes) => hiddenFields([{ name: "kid", value: kid }]);

const crumbs = (organisation: Organisation, { console: { frame } }: Messages) => [
  { label: frame.pages.signingKeys, uri: consolePath(organisation, "/signing-keys") },
];

const changed: FormFailure = { kind: "changed" };

/** Another one, or another press of the button, has made a successor. */
async function unlessRotated(
  rotation: () => Promise<unknown>,
  error: typeof RotatedMeanwhile | typeof CaRotatedMeanwhile,
): Promise<FormFailure | undefined> {
  try {
    await rotation();
    return undefined;
  } catch (caught) {
    if (caught instanceof error) return changed;
    throw caught;
  }
}

function rotateRoute(app: FastifyInstance, deps: SigningKeysDeps): void {
  confirmedActRoute<KeyTimes>(app, deps, {
    path: "/signing-keys/:alg/rotate",
    current: "signingKeys",
    find: (organisation, params) => newestKey(deps, organisation, params),
    question: (messages, key, organisation) => {
      const { rotate } = messages.console.signingKeys;
      return {
        heading: rotate.heading({ algorithm: key.alg }),
        text: html`<p>${rotate.text({ seconds: PUBLISH_AHEAD_MS / 1000 })}</p>`,
        confirm: rotate.confirm,
        confirmId: "key-rotate",
        isHarmless: true,
        fields: about(key),
        back: "/signing-keys",
        breadcrumbs: crumbs(organisation, messages),
      };
    },
    act: async ({ orgId, ...by }, { alg }, form) => {
      const replaces = form.get("kid") ?? "";
      const rotation = () => deps.keys.rotate(orgId, alg, { ...by, replaces, compromised: false });
      return (await unlessRotated(rotation, RotatedMeanwhile)) ?? "/signing-keys?done=rotated";
    },
  });
}

function revokeRoute(app: FastifyInstance, deps: SigningKeysDeps): void {
  confirmedActRoute<KeyTimes>(app, deps, {
    path: "/signing-keys/:alg/revoke",
    current: "signingKeys",
    find: (organisation, params) => newestKey(deps, organisation, params),
    question: (messages, key, organisation) => {
      const { revoke } = messages.console.signingKeys;
      return {
        heading: revoke.heading({ algorithm: key.alg }),
        text: html`<p>${revoke.text}</p><p>${revoke.textMore}</p>`,
        confirm: revoke.confirm,
        confirmId: "key-revoke",
        name: organisation.name,
        fields: about(key),
        back: "/signing-keys",
        breadcrumbs: crumbs(organisation, messages),
      };
    },
    act: async ({ orgId, ...by }, { alg }, form) => {
      const replaces = form.get("kid") ?? "";
      const rotation = () => deps.keys.rotate(orgId, alg, { ...by, replaces, compromised: true });
      return (await unlessRotated(rotation, RotatedMeanwhile)) ?? "/signing-keys?done=revoked";
    },
  });
}

function rotateCaRoute(app: FastifyInstance, deps: SigningKeysDeps): void {
  confirmedActRoute<CaGeneration>(app, deps, {
    path: "/signing-keys/device-ca/rotate",
    current: "signingKeys",
    find: async ({ id }) => (await deps.deviceCa.generations(id))[0],
    question: (messages, { generation }, organisation) => {
      const { rotateCa } = messages.console.signingKeys;
      return {
        heading: rotateCa.heading,
        text: html`<p>${rotateCa.text}</p>`,
        confirm: rotateCa.confirm,
        confirmId: "device-ca-rotate",
        isHarmless: true,
        fields: hiddenFields([{ name: "generation", value: String(generation) }]),
        back: "/signing-keys",
        breadcrumbs: crumbs(organisation, messages),
      };
    },
    act: async (by, { generation }, form) => {
      if (form.get("generation") !== String(generation)) return changed;
      const rotation = () => deps.deviceCa.rotate(by);
      return (await unlessRotated(rotation, CaRotatedMeanwhile)) ?? "/signing-keys?done=ca-rotated";
    },
  });
}
