import assert from "node:assert/strict";
import { test } from "node:test";
import type { StoredEvent } from "../audit/audit.store.ts";
import { ACR_NAMESPACE, acrValues } from "../sessions/session.ts";
import { eventTypes, securityEvent } from "./security-events.ts";

const renewed = (details: StoredEvent["details"]): StoredEvent => ({
  ...({ orgId: "o", id: "e", seq: 1, at: 1_700_000_000_000, action: "session.renewed" } as const),
  ...{ actor: "user:u", target: "s", details },
});

test("a step-up is a change of the assurance level of that session, and so is the way down", () => {
  const { password, multiFactor, phishingResistant } = acrValues;
  for (const [acr, previousAcr, direction] of [
    [multiFactor, password, "increase"],
    [phishingResistant, multiFactor, "increase"],
    [password, phishingResistant, "decrease"],
  ] as const)
    assert.deepEqual(securityEvent(renewed({ amr: ["pwd"], acr, previousAcr })), {
      ...{ userId: "u", type: eventTypes.assuranceLevelChange },
      claims: {
        ...{ namespace: ACR_NAMESPACE, current_level: acr, previous_level: previousAcr },
        ...{ change_direction: direction, session: { format: "opaque", id: "s" } },
        ...{ event_timestamp: 1_700_000_000, initiating_entity: "user" },
      },
    });
});

test("signing in again by the same way tells nothing", () => {
  const { password } = acrValues;
  for (const details of [{ amr: ["pwd"] }, { acr: password }, { acr: password, previousAcr: password }])
    assert.equal(securityEvent(renewed(details)), undefined);
});
