/** Device code grant (RFC 8628 §3.4). */
import { deviceCodeGrantType } from "../../../core/applications/application.ts";
import {
  findByDeviceCode,
  markDeviceCodeUsed,
  recordPoll,
} from "../../../core/device-authorizations/device-authorizations.store.ts";
import type { Grant } from "./grant.ts";
import { type PolledGrantDeps, polledGrant } from "./polled-grant.ts";

export const deviceCodeGrant = (deps: PolledGrantDeps): Grant =>
  polledGrant(deps, {
    grantType: deviceCodeGrantType,
    parameter: "device_code",
    noun: "device code",
    replayAction: "device-code.replayed",
    find: async (db, orgId, hash) => {
      const found = await findByDeviceCode(db, orgId, hash);
      // Where the request was made, details are refused: RFC 8628 has none.
      return found && { ...found, hash, authorizationDetails: [] };
    },
    recordPoll: (db, { hash, ...key }) => recordPoll(db, { ...key, deviceCodeHash: hash }),
    markUsed: (db, { hash, ...key }) => markDeviceCodeUsed(db, { ...key, deviceCodeHash: hash }),
  });
