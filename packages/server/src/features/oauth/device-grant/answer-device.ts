/** A person's yes or no to a device: one conditional statement decides, and what belongs to it happens with it or not at all. */
import { newUuid } from "@signet/protocol/uuid";
import { consentModeOf } from "../../../core/applications/consent-mode.ts";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import { consentStanding } from "../../../core/consents/consent.ts";
import { findConsents, grantUserConsent } from "../../../core/consents/consents.store.ts";
import {
  approveDevice,
  denyDevice,
} from "../../../core/device-authorizations/device-authorizations.store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { BegunSigning } from "../../../core/tokens/signer.ts";
import type { Db } from "../../../db/open.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import type { BrowserDeps, Visit } from "../authorize/browser.ts";
import { beginDeviceSigning } from "./begin-device-signing.ts";
import { askedOf, type WaitingDevice } from "./find-device.ts";

/** Somebody else, or another window, was faster. */
class AnsweredBefore extends Error {}

/** Only an administrator's yes counts, and there is none. */
class AdministratorFirst extends Error {}

/** What became of an answer; `signing`: a yes that an agent has to sign the tokens of. Else nothing has happened. */
export type Answered =
  | { readonly kind: "done" | "answered-before" | "ask-administrator" }
  | { readonly kind: "signing"; readonly begun: BegunSigning };

export async function answerDevice(
  deps: BrowserDeps,
  visit: Visit,
  waiting: WaitingDevice,
  signedIn: SignedIn,
  decision: "allow" | "deny",
): Promise<Answered> {
  const now = deps.clock();
  const { device, application } = waiting;
  const { orgId, deviceCodeHash } = device;
  const { user, session } = signedIn;
  const isPoolSigned = application.settings.signingPoolId !== undefined && decision === "allow";
  const signing = isPoolSigned ? { familyId: newUuid(), approvedAt: now } : null;
  try {
    const consentId = await deps.database.transaction(async (tx) => {
      const answered = { orgId, deviceCodeHash, now };
      const allowed = decision === "allow";
      const consentId = allowed ? await consentTo(tx, waiting, user.id, now) : null;
      const approval = { userId: user.id, sessionId: session.id, consentId, authentication: session };
      const isFirst = allowed
        ? await approveDevice(tx, answered, approval, signing)
        : await denyDevice(tx, answered, user.id);
      if (!isFirst) throw new AnsweredBefore();
      await recordAuditEvent(tx, {
        orgId,
        at: now,
        actor: `user:${user.id}`,
        action: decision === "allow" ? "device.approved" : "device.denied",
        target: application.id,
        address: addressOf(visit.request),
        details: { scopes: device.scopes, deviceAddress: device.address },
      });
      return consentId;
    });
    const begun =
      signing && (await beginDeviceSigning(deps, visit, waiting, { signedIn, consentId, signing }));
    return begun ? { kind: "signing", begun } : { kind: "done" };
  } catch (error) {
    if (error instanceof AnsweredBefore) return { kind: "answered-before" };
    if (error instanceof AdministratorFirst) return { kind: "ask-administrator" };
    throw error;
  }
}

/**
 * As at the code grant: a record that covers the scopes already, or this yes, remembered; none where none is asked for.
 * @throws AdministratorFirst where only an administrator's yes counts and there is none
 */
async function consentTo(
  tx: Db,
  waiting: WaitingDevice,
  userId: string,
  now: number,
): Promise<string | null> {
  const { key, asked, standing } = await consentFor(tx, waiting, userId);
  if (standing.kind === "settled") return standing.consentId;
  if (standing.kind === "ask-administrator") throw new AdministratorFirst();
  return grantUserConsent(tx, { ...key, ...asked, now });
}

/** Asked before the question is: nobody gives a yes that does not count. */
export async function needsAdministrator(
  db: Db,
  waiting: WaitingDevice,
  { user }: SignedIn,
): Promise<boolean> {
  const { standing } = await consentFor(db, waiting, user.id);
  return standing.kind === "ask-administrator";
}

async function consentFor(db: Db, waiting: WaitingDevice, userId: string) {
  const { device, application } = waiting;
  const key = { orgId: device.orgId, applicationId: application.id, userId };
  const asked = askedOf(waiting);
  const mode = consentModeOf(application.settings);
  return { key, asked, standing: consentStanding(mode, await findConsents(db, key), asked) };
}
