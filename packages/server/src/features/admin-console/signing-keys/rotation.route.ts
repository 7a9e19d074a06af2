/** Rotating signing keys and the device CA, and revoking compromised keys: each confirmed first. */
import type { FastifyInstance } from "fastify";
import type { DeviceCa } from "../../../core/device-ca/authority.ts";
import type { CaGeneration } from "../../../core/device-ca/generation.ts";
import { ConcurrentRotation as ConcurrentCaRotation } from "../../../core/device-ca/rotation.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { type KeyTimes, PUBLISH_AHEAD_MS } from "../../../core/signing-keys/signing-key.ts";
import { listSigningKeys } from "../../../core/signing-keys/signing-keys.store.ts";
import { ConcurrentRotation, type SigningKeys } from "../../../core/signing-keys/signing-keys.ts";
import { hiddenFields } from "../../../html/components/form.ts";
import { html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import {
  applied,
  type Confirmation,
  type ConfirmationResult,
  confirmationRoute,
} from "../../../page-kit/confirmation.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";

export interface SigningKeysDeps extends ConsoleDeps {
  readonly keys: Pick<SigningKeys, "published" | "rotate">;
  readonly deviceCa: Pick<DeviceCa, "generations" | "rotate">;
  /** Days; 0: keys are not rotated automatically. */
  readonly keyRotationDays: number;
}

export function keyRotationRoutes(app: FastifyInstance, deps: SigningKeysDeps): void {
  confirmationRoute(app, deps, "/oauth/manage/:org/signing-keys/:alg/rotate", rotation);
  confirmationRoute(app, deps, "/oauth/manage/:org/signing-keys/:alg/revoke", revocation);
  confirmationRoute(app, deps, "/oauth/manage/:org/signing-keys/device-ca/rotate", caRotation);
}

const keysPath = (organisation: Organisation, query = ""): string =>
  consolePath(organisation, `/signing-keys${query}`);

const keysCrumb = (organisation: Organisation, { console: { frame } }: Messages) => [
  { label: frame.pages.signingKeys, uri: keysPath(organisation) },
];

const onNewestKey: Pick<Confirmation<SigningKeysDeps, KeyTimes>, "current" | "load" | "backUri"> = {
  current: "signingKeys",
  load: async ({ database }, { id: orgId }, { alg }) => {
    const keys = await listSigningKeys(database.query, orgId);
    return keys.find((key) => key.alg === alg && key.retireAt === null);
  },
  backUri: (organisation) => keysPath(organisation),
};

/** The key that the page was about: a duplicate submission rotates nothing more. */
const kidField = ({ kid }: KeyTimes) => hiddenFields([{ name: "kid", value: kid }]);

const conflict: ConfirmationResult = { kind: "changed" };

/** Another request, or the same one before, has already made a successor. */
async function unlessRotated(rotated: Promise<unknown>, uri: string): Promise<ConfirmationResult> {
  try {
    await rotated;
    return applied(uri);
  } catch (error) {
    if (error instanceof ConcurrentRotation || error instanceof ConcurrentCaRotation) return conflict;
    throw error;
  }
}

const rotation: Confirmation<SigningKeysDeps, KeyTimes> = {
  ...onNewestKey,
  question: (messages, key, organisation) => {
    const { rotate } = messages.console.signingKeys;
    return {
      heading: rotate.heading({ algorithm: key.alg }),
      text: html`<p>${rotate.text({ seconds: PUBLISH_AHEAD_MS / 1000 })}</p>`,
      confirm: rotate.confirm,
      confirmId: "key-rotate",
      isHarmless: true,
      fields: kidField(key),
      breadcrumbs: keysCrumb(organisation, messages),
    };
  },
  apply: (deps, { orgId, ...by }, { alg }, { values, organisation }) => {
    const replaces = values.get("kid") ?? "";
    const rotated = deps.keys.rotate(orgId, alg, { ...by, replaces, compromised: false });
    return unlessRotated(rotated, keysPath(organisation, "?done=rotated"));
  },
};

const revocation: Confirmation<SigningKeysDeps, KeyTimes> = {
  ...onNewestKey,
  question: (messages, key, organisation) => {
    const { revoke } = messages.console.signingKeys;
    return {
      heading: revoke.heading({ algorithm: key.alg }),
      text: html`<p>${revoke.text}</p><p>${revoke.textMore}</p>`,
      confirm: revoke.confirm,
      confirmId: "key-revoke",
      name: organisation.name,
      fields: kidField(key),
      breadcrumbs: keysCrumb(organisation, messages),
    };
  },
  apply: (deps, { orgId, ...by }, { alg }, { values, organisation }) => {
    const replaces = values.get("kid") ?? "";
    const rotated = deps.keys.rotate(orgId, alg, { ...by, replaces, compromised: true });
    return unlessRotated(rotated, keysPath(organisation, "?done=revoked"));
  },
};

const caRotation: Confirmation<SigningKeysDeps, CaGeneration> = {
  current: "signingKeys",
  load: async ({ deviceCa }, { id }) => (await deviceCa.generations(id))[0],
  backUri: (organisation) => keysPath(organisation),
  question: (messages, { generation }, organisation) => {
    const { rotateCa } = messages.console.signingKeys;
    return {
      heading: rotateCa.heading,
      text: html`<p>${rotateCa.text}</p>`,
      confirm: rotateCa.confirm,
      confirmId: "device-ca-rotate",
      isHarmless: true,
      fields: hiddenFields([{ name: "generation", value: String(generation) }]),
      breadcrumbs: keysCrumb(organisation, messages),
    };
  },
  apply: async (deps, by, { generation }, { values, organisation }) => {
    if (values.get("generation") !== String(generation)) return conflict;
    return unlessRotated(deps.deviceCa.rotate(by), keysPath(organisation, "?done=ca-rotated"));
  },
};
