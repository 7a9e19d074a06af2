/** What the pages of the organisation's own keys need. */

import type { DeviceCa } from "../../../core/device-ca/authority.ts";
import type { SigningKeys } from "../../../core/signing-keys/signing-keys.ts";
import type { ConsoleDeps } from "../../../page-kit/visit.ts";

export interface SigningKeysDeps extends ConsoleDeps {
  readonly keys: Pick<SigningKeys, "published" | "rotate">;
  readonly deviceCa: Pick<DeviceCa, "generations" | "rotate">;
  /** Days; 0: keys are not rotated by themselves. */
  readonly keyRotationDays: number;
}
